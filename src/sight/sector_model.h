// How many sectors of memory one access of a warp moves. Global memory comes in sectors of 32 bytes, the unit in which
// caches and DRAM hand it over (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"); a sector is moved
// once for all threads that touch it.
#pragma once
#include <array>
#include <cstdint>

namespace opsight::sight {

struct Sectors {
  uint32_t taken = 0;
  uint32_t ideal = 0; // that the different bytes asked for would fill
};

Sectors sectorsOf(const std::array<uint64_t, 32> &addresses, uint32_t mask, uint32_t bytes, uint32_t sectorBytes = 32);

} // namespace opsight::sight
