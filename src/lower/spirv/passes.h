// The passes from a CUDA module to SPIR-V, each in the file of its name, and the address spaces they speak of.
// passes.cpp says in which order they run and why.
#pragma once
#include "lower/pass.h"

namespace opsight::lower::spirv {

// CUDA's address spaces, in which all passes but the last work. Local is ours: see local_memory.cpp.
inline constexpr unsigned genericSpace = 0, globalSpace = 1, sharedSpace = 3, constantSpace = 4, localSpace = 5;

extern const Pass keep_kernel, inline_all, counted_barriers, trap_asserts, kernel_parameters, symbol_parameters, dynamic_shared,
    local_memory, specialise, expand_memory_calls, schedule_threads, separate_tails, map_warps, map_barriers,
    contract_multiply_add, soft_half, clamp_shifts, saturate_casts, expand_integers, promote_integers, map_indices,
    map_mathematics, map_atomics, map_subgroups, legalise_values, plain_addresses, remap_address_spaces, strip_for_driver;

/// In the order of the pipeline.
std::span<const Pass *const> passes();

} // namespace opsight::lower::spirv
