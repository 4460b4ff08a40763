// How native code is called: the one function that a native artifact exports, and what it is handed.
// src/lower/native emits code for this; the worker calls it, and so can any C program (the artifact's own header
// repeats these declarations).
//
// A launch is a list of blocks numbered x fastest: index = x + grid.x * (y + grid.y * z). The entry runs the blocks
// [begin, end) one after another on the calling thread, so a caller spreads a launch over cores by handing out ranges
// from one counter, lowest first (kernels put their heaviest blocks there). Calls on several threads at once are fine
// as long as each has its own `shared`.
//
// Code that waits for the whole grid (Manifest::residentBytes is not 0) keeps all blocks of the launch from its start to
// its end. Every block then has memory of its own, residentStride() bytes or more: first what the code keeps of it, then
// its dynamic shared memory. All ranges of the launch have to be with calls at the same time, each on a thread of its own;
// when all blocks of its range wait, a call asks Launch::meet.
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
  /// Code that waits for the whole grid alone: how many bytes behind one block's memory the next one's begins, a multiple
  /// of residentAlignment.
  uint64_t residentStride = 0;
  /// Code that waits for the whole grid alone: returns once all calls of the launch have asked, with `state` if all asked
  /// with the same, else with the largest and meetingParted added. A call that has ended is waited for no more; who asks
  /// behind it gets meetingParted. May be null for a call that has the whole grid.
  uint64_t (*meet)(void *meeting, uint64_t state) = nullptr;
  void *meeting = nullptr;
};

/// Manifest::entry names a symbol of this type. `shared` is the calling thread's own dynamic shared memory:
/// Launch::dynamicSharedBytes bytes aligned to `sharedAlignment`, null when the launch has none. Of code that waits for
/// the whole grid it is the memory of block `begin`, aligned to residentAlignment.
/// A block whose assert fails sets MessageHeader::asserted and ends; the range goes on. Threads that do not meet at a
/// barrier set MessageHeader::unmet and end the range.
using Entry = void (*)(const Launch *launch, uint64_t begin, uint64_t end, void *shared);

inline constexpr uint32_t sharedAlignment = 64, residentAlignment = 128;
inline constexpr uint64_t meetingParted = uint64_t(1) << 63;

/// Bytes of one block's memory, where code keeps `residentBytes` of it.
constexpr uint64_t residentStride(uint64_t residentBytes, uint64_t dynamicSharedBytes) {
  return residentBytes + (dynamicSharedBytes + residentAlignment - 1) / residentAlignment * residentAlignment;
}
/// The entry's stack need is not bounded by the ABI: static shared and local arrays live there, and what warps keep while
/// they wait at barriers. Callers run it on threads with at least this much stack.
inline constexpr uint64_t stackBytes = 8u << 20;

} // namespace opsight::card::native
