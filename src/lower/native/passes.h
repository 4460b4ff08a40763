// The passes from a CUDA module to code for the host processor, each in the file of its name. passes.cpp says in which
// order they run and why.
//
// A block is one thread here, so no pass speaks of address spaces: x86 treats spaces 0 to 255 alike, and the only
// memory that needs a home is shared memory (stack_shared).
#pragma once
#include "lower/pass.h"

namespace llvm {
class TargetMachine;
}

namespace opsight::lower::native {

inline constexpr unsigned sharedSpace = 3;

/// Parameters that `block_range` gives the kernel's body behind those of the manifest, by these names.
inline constexpr const char *blockNames[] = {"opsight.block.x", "opsight.block.y", "opsight.block.z"};
inline constexpr const char *gridNames[] = {"opsight.grid.x", "opsight.grid.y", "opsight.grid.z"};
inline constexpr const char *sharedName = "opsight.shared";

extern const Pass inline_mathematics, compare_nans;
extern const Pass lone_thread, block_indices, stack_shared, libm_calls, round_halves, refuse_unknown, retarget, estimate_roots,
    block_range, optimise;

/// In the order of the pipeline; null where the registry lacks a shared pass, which is a fault of ours.
std::span<const Pass *const> passes();
/// Those that are this target's own, for the registry.
std::span<const Pass *const> ownPasses();

} // namespace opsight::lower::native
