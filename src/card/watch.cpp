#include "card/watch.h"
#include <algorithm>
#include <bit>

namespace opsight::card {

uint64_t WatchedLaunch::sharedBytes() const {
  uint64_t end = config.dynamicSharedBytes;
  for (const WatchedObject &object : watch.objects)
    if (object.space == Space::Shared)
      end = std::max(end, object.offset + bytesOf(object));
  return end;
}

int32_t WatchedLaunch::regionOf(const WatchedObject &object) const {
  auto region = std::ranges::find(regions, object.name, &Region::name);
  return object.space == Space::Global && region != regions.end() ? int32_t(region - regions.begin()) : -1;
}

void Access::summarise(std::optional<uint64_t> step) {
  const uint32_t lowest = mask & -mask, highest = std::bit_floor(mask);
  if (step) {
    distinct = *step ? mask : lowest;
    edges = *step % site.alignment == 0 ? lowest | highest : distinct;
    return;
  }
  uint32_t repeated = 0;
  for (uint32_t apart : {1, 8, 16}) // neighbours, and rows of a block that is 8 or 16 wide, often read the same
    for (uint32_t lane = apart; lane < warpLanes; ++lane)
      repeated |= uint32_t(addresses[lane] == addresses[lane - apart]) << lane & mask << apart;
  distinct = edges = mask & ~repeated;
}

} // namespace opsight::card
