// The warp machine: the passes that turn a kernel whose block has many threads into one function over a warp, whose
// threads are the lanes of vectors, each pass in the file of its name. passes.cpp says in which order they run and why.
//
// Until `vectorise` the kernel is scalar: it is what one thread does, and its lane is what the intrinsic
// llvm.nvvm.read.ptx.sreg.laneid (of vectors longer than a warp .tid.x) says, 0 to Target::lanes - 1, the only source of
// differences between the threads of a warp. Afterwards control flow is the warp's own, values that differ between threads are vectors, and barriers are
// calls of `barrierName`, until `suspend` makes a state machine of them.
#pragma once
#include "lower/pass.h"

namespace opsight::lower::warp {

/// Parameters behind those of the manifest and of native/passes.h's block and grid, by these names.
inline constexpr const char *sharedName = "opsight.shared"; // dynamic shared memory of the launch
inline constexpr const char *staticName = "opsight.static"; // static shared arrays, Manifest::staticSharedBytes
inline constexpr const char *warpName = "opsight.warp";     // number of the warp in its block
inline constexpr const char *frameName = "opsight.frame";   // where a waiting warp keeps what it needs; by `suspend`
inline constexpr const char *voteName = "opsight.vote";     // what the votes at the last barrier add up to; by `suspend`

/// i32 barrierName(i32 place, i32 kind, i32 contribution): index into Context::places, BarrierKind, what this warp adds.
inline constexpr const char *barrierName = "opsight.barrier";
enum class BarrierKind : unsigned { Plain, Count, And, Or, Grid };
/// In what a kernel returns that waits for the whole grid, and an attribute of kernels that may; by `suspend`.
inline constexpr uint32_t gridMark = 1u << 30;
inline constexpr const char *gridAttribute = "opsight.grid";
/// Metadata on a barrier that orders nothing between the vectors of a block; by `drop_barriers`.
inline constexpr const char *idleMark = "opsight.idle";
/// void faultName(i32 place): some of the warp's living threads do not come to the barrier; a return follows.
inline constexpr const char *faultName = "opsight.fault";

/// i1 fullName(i1 condition): whether the condition holds in every lane, none missing; by `all_active`.
inline constexpr const char *fullName = "opsight.full";

extern const Pass warp_width, thread_indices, shared_memory, simplify, part_structures, interleave_locals,
    total_division, widen_indices, join_rows, share_columns,
    mark_returns, mark_uniform, all_active, structure, drop_barriers, vectorise, delay_deinterleave, suspend, warp_range;

/// Where Context::scratchBytes begin, behind the static shared arrays.
inline constexpr uint64_t scratchAlignment = 64;

/// How many vectors a block is, once `warp_width` has chosen how long they are.
unsigned vectorsOf(const Context &context);

/// In the order of the pipeline.
std::span<const Pass *const> passes();
/// Those that are this target's own, for the registry.
std::span<const Pass *const> ownPasses();

} // namespace opsight::lower::warp
