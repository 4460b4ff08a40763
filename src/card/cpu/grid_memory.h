// The memory of all blocks of a launch that waits for its whole grid (abi.h): each block's lies between pages that may
// not be touched, its dynamic shared memory flush with those behind it.
#pragma once
#include "card/cpu/abi.h"
#include <cstddef>

namespace opsight::card::native {

/// For all blocks of a launch, pages between them included: what every core then holds is far beyond its caches, and
/// more blocks than any card keeps at once fit.
inline constexpr uint64_t residentLimit = 1ull << 30;
inline constexpr uint64_t pageBytes = 4096, gapBytes = 64 << 10;

/// Bytes from one block's memory to the next one's.
constexpr uint64_t guardedStride(uint64_t residentBytes, uint64_t dynamicSharedBytes) {
  uint64_t bytes = residentStride(residentBytes, dynamicSharedBytes);
  return (bytes + pageBytes - 1) / pageBytes * pageBytes + gapBytes;
}

class GridMemory {
public:
  GridMemory() = default;
  GridMemory(const GridMemory &) = delete;
  ~GridMemory() { release(); }

  /// The first block's; the others follow at guardedStride(). Null where the system has none. What was taken before is
  /// gone, or is the same.
  void *take(uint64_t residentBytes, uint64_t dynamicSharedBytes, uint64_t blocks);

private:
  void release();

  std::byte *base_ = nullptr;
  uint64_t stride_ = 0, blocks_ = 0;
};

} // namespace opsight::card::native
