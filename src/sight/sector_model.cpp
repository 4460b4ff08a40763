#include "sight/sector_model.h"
#include <algorithm>

namespace opsight::sight {

Sectors sectorsOf(const std::array<uint64_t, 32> &addresses, uint32_t mask, uint32_t bytes, uint32_t sectorBytes) {
  std::array<uint64_t, 32> starts;
  uint32_t count = 0;
  for (uint32_t thread = 0; thread < 32; ++thread)
    if (mask >> thread & 1)
      starts[count++] = addresses[thread];
  std::sort(starts.begin(), starts.begin() + count);
  Sectors result;
  uint64_t different = 0, covered = 0, nextSector = 0; // all below these is counted
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t end = starts[i] + bytes, from = std::max(starts[i], covered);
    different += end > from ? end - from : 0;
    covered = std::max(covered, end);
    const uint64_t first = std::max(starts[i] / sectorBytes, nextSector), last = (end - 1) / sectorBytes;
    result.taken += last >= first ? uint32_t(last - first + 1) : 0;
    nextSector = std::max(nextSector, last + 1);
  }
  result.ideal = uint32_t((different + sectorBytes - 1) / sectorBytes);
  return result;
}

} // namespace opsight::sight
