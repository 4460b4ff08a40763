// How native code is called: the one function that a native artifact exports, and what it is handed.
// src/lower/native emits code for this; the worker calls it, and so can any C program (the artifact's own header
// repeats these declarations).
//
// A launch is a list of blocks numbered x fastest: index = x + grid.x * (y + grid.y * z). The entry runs the blocks
// [begin, end) one after another on the calling thread, so a caller spreads a launch over cores by handing out ranges
// from one counter, lowest first (kernels put their heaviest blocks there). Calls on several threads at once are fine
// as long as each has its own `shared`.
#pragma once
#include <cstdint>

namespace opsight::card::native {

struct Launch {
  uint32_t grid[3];
  uint32_t block[3];
  /// One address for each of Manifest::parameters, in order. Buffer, Symbol, Message: of a variable that holds the
  /// pointer. Scalar: of the value. DynamicShared: unused, may be null.
  const void *const *arguments;
  uint64_t dynamicSharedBytes;
  /// In which order a block's warps run between two barriers: 0 ascending, else one that this number stands for, another
  /// at each barrier. A right kernel gives the same output for all.
  uint64_t order;
};

/// Manifest::entry names a symbol of this type. `shared` is the calling thread's own dynamic shared memory:
/// Launch::dynamicSharedBytes bytes aligned to `sharedAlignment`, null when the launch has none.
/// A block whose assert fails sets MessageHeader::asserted and ends; the range goes on. Threads that do not meet at a
/// barrier set MessageHeader::unmet and end the range.
using Entry = void (*)(const Launch *launch, uint64_t begin, uint64_t end, void *shared);

inline constexpr uint32_t sharedAlignment = 64;
/// The entry's stack need is not bounded by the ABI: static shared and local arrays live there, and what warps keep while
/// they wait at barriers. Callers run it on threads with at least this much stack.
inline constexpr uint64_t stackBytes = 8u << 20;

} // namespace opsight::card::native
