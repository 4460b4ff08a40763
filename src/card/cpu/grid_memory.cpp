// See grid_memory.h.
#include "card/cpu/grid_memory.h"
#include <sys/mman.h>

namespace opsight::card::native {

void *GridMemory::take(uint64_t residentBytes, uint64_t dynamicSharedBytes, uint64_t blocks) {
  uint64_t stride = guardedStride(residentBytes, dynamicSharedBytes), region = stride - gapBytes;
  if (stride != stride_ || blocks != blocks_) {
    release();
    uint64_t bytes = gapBytes + blocks * stride;
    void *base = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
      return nullptr;
    base_ = static_cast<std::byte *>(base);
    stride_ = stride, blocks_ = blocks;
    for (uint64_t block = 0; block < blocks; ++block)
      if (::mprotect(base_ + gapBytes + block * stride, region, PROT_READ | PROT_WRITE) != 0) {
        release();
        return nullptr;
      }
  }
  return base_ + gapBytes + region - residentStride(residentBytes, dynamicSharedBytes);
}

void GridMemory::release() {
  if (base_)
    ::munmap(base_, gapBytes + blocks_ * stride_);
  base_ = nullptr;
  stride_ = blocks_ = 0;
}

} // namespace opsight::card::native
