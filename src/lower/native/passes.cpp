// The pipeline: which passes, in which order, and why in that order.
#include "lower/native/passes.h"
#include "lower/registry.h"
#include "lower/speak.h"
#include "lower/watch/calls.h"
#include <array>

namespace opsight::lower::native {

std::span<const Pass *const> ownPasses() {
  static const Pass *const own[] = {&inline_mathematics, &compare_nans, &speak,       &lone_thread,    &block_indices, &stack_shared,
                                    &libm_calls,         &round_halves, &retarget,    &block_range,    &refuse_unknown,
                                    &estimate_roots,     &optimise,     &watch::join_accesses, &watch::watch,
                                    &watch::merge_checks, &watch::publish_alone, &watch::link_publish};
  return own;
}

std::span<const Pass *const> passes() {
  // Those named by text are shared with other targets.
  static const std::array order{
      findPass("keep_kernel"),       // nothing below should work on code that is not reached
      findPass("inline_all"),        // the passes below look at one function
      findPass("counted_barriers"),  // before anyone asks which barriers there are
      &watch::join_accesses,         // as the card's own compiler would access memory
      &watch::watch,                 // what the source does, before anything is added to it …
      &watch::merge_checks,          // … and while neighbours still look like it
      &speak,                        // before string literals would become parameters
      findPass("symbol_parameters"), // variables the host may write become parameters like any other
      findPass("clamp_shifts"),      // before LLVM's own passes may exploit that wide shifts are undefined …
      findPass("saturate_casts"),    // … or that casts of large floats are
      &compare_nans,                 // before LLVM's own passes see what they do not come to an end on
      &lone_thread,                  // barriers and warps of one thread fold to nothing …
      &block_indices,                // … and so do thread indices
      &watch::publish_alone,         // by the block's number, which is known now
      &stack_shared,                 // needs the final number of shared arrays: after lone_thread dropped code
      &libm_calls,                   // while intrinsics still carry the user's lines, for messages
      &round_halves,                 // before LLVM would make calls of it that no library here answers
      &refuse_unknown,               // what nobody above translated is told by name and line
      &retarget,                     // host triple, layout and features: LLVM's passes below go by them
      &estimate_roots,               // while a reciprocal root still is one
      &watch::link_publish,          // host code, for what a watched kernel calls
      &block_range,                  // the exported entry; from here on the kernel is its callee
      &optimise,                     // LLVM's -O3 for the host
  };
  return order;
}

} // namespace opsight::lower::native
