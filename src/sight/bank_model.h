// How many passes of the shared memory one access of a warp takes.
//
// Shared memory is `banks` columns, each `width` bytes wide; words follow each other through the banks. A pass (a
// wavefront) takes one word of every bank, whoever asks for it. An access of more than a word by each thread goes in
// phases: as many threads at once as fill all banks (NVIDIA: 32 of 4 bytes, 16 of 8, 8 of 16). A phase takes as many
// wavefronts as its busiest bank has different words. Source: CUDA C++ Programming Guide, shared memory of compute
// capability 5.x and later (banks, broadcast); for 8 and 16 bytes, NVIDIA's answers in NVIDIA/cutlass#328 and
// Dao-AILab/flash-attention#738.
#pragma once
#include <array>
#include <cstdint>

namespace opsight::sight {

struct BankGeometry {
  uint32_t banks = 32, width = 4; // bytes
  uint32_t rowBytes() const { return banks * width; }
};

struct Wavefronts {
  uint32_t taken = 0;
  uint32_t ideal = 0; // one for each phase in which a thread takes part
};

/// Of the threads in `mask`, each with `bytes` from its byte offset. `exclusive`: threads at one word take turns
/// (atomics) where others share it.
Wavefronts wavefrontsOf(const std::array<uint64_t, 32> &addresses, uint32_t mask, uint32_t bytes,
                        const BankGeometry &geometry = {}, bool exclusive = false);

} // namespace opsight::sight
