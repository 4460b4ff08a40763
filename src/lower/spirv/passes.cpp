// The pipeline from CUDA to SPIR-V, as a table of contents.
#include "lower/spirv/passes.h"
#include "lower/speak.h"

namespace opsight::lower::spirv {

std::span<const Pass *const> passes() {
  static constexpr const Pass *pipeline[] = {
      // One function, with parameters that OpenCL takes: everything later looks at a single body.
      &keep_kernel, &inline_all, &counted_barriers,
      // Before its string literals would become parameters.
      &trap_asserts, &speak, &kernel_parameters,
      // Variables before address spaces are inferred, so that each pointer's origin is a parameter or an array.
      &symbol_parameters, &dynamic_shared, &local_memory,
      // Generic pointers find their memory; also promotes the locals of unoptimised code.
      &specialise, &expand_memory_calls,
      // What threads share: who waits for whom is settled before barriers and warps lose their CUDA names. Subgroups
      // first: what they take no longer has to be reached by the whole block.
      &map_subgroups, &schedule_threads, &separate_tails, &map_warps, &map_barriers,
      // CUDA's meaning into OpenCL's, while address spaces are still CUDA's.
      &contract_multiply_add, &soft_half, &clamp_shifts, &saturate_casts, &expand_integers, &map_indices,
      &map_mathematics, &map_atomics,
      // Forms and numbers last: the passes before may bring back what these remove.
      &promote_integers, &legalise_values, &plain_addresses, &remap_address_spaces, &strip_for_driver};
  return pipeline;
}

} // namespace opsight::lower::spirv
