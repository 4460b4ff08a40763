// See block_clock.h.
#include "sight/block_clock.h"
#include <algorithm>

namespace opsight::sight {

void BlockClock::begins(const card::WatchedLaunch &launch) {
  *this = {};
  warps_.resize(launch.warps());
}

void BlockClock::enter(uint64_t block) {
  if (block == block_)
    return;
  block_ = block;
  for (Warp &warp : warps_)
    warp = {};
}

Moment BlockClock::now(const card::Passage &passage) {
  enter(passage.block);
  const Warp &warp = warps_[passage.warp];
  return {++time_, passage.block, passage.warp, warp.phase, warp.tick};
}

void BlockClock::barrier(const card::Passage &passage) {
  enter(passage.block);
  Warp &warp = warps_[passage.warp];
  ++warp.phase;
  warp.meetings.clear();
}

void BlockClock::warpSync(const card::Passage &passage, uint32_t members) {
  enter(passage.block);
  Warp &warp = warps_[passage.warp];
  uint32_t met = members & passage.mask;
  ++warp.tick;
  if (!warp.meetings.empty() && warp.meetings.back().members == met)
    warp.meetings.back().tick = warp.tick; // the later one orders whatever the earlier did
  else
    warp.meetings.push_back({warp.tick, met});
}

void BlockClock::fence(const card::Passage &passage) {
  enter(passage.block);
  fenced_[passage.block] = ++time_;
}

/// Who has fenced leaves what it did before, and what it knew; who comes by takes it up.
void BlockClock::meet(const card::Passage &passage, uint64_t address) {
  enter(passage.block);
  auto fence = fenced_.find(passage.block);
  if (fence == fenced_.end() && left_.empty())
    return;
  Known &here = left_[address], &own = known_[passage.block];
  for (auto [block, time] : here)
    own[block] = std::max(own[block], time);
  if (fence == fenced_.end())
    return;
  for (auto [block, time] : own)
    here[block] = std::max(here[block], time);
  here[passage.block] = fence->second;
}

bool BlockClock::ordered(const Moment &before, uint32_t earlier, const Moment &after, uint32_t later) const {
  if (before.block != after.block) {
    auto own = known_.find(after.block);
    if (own == known_.end())
      return false;
    auto known = own->second.find(before.block);
    return known != own->second.end() && known->second > before.time;
  }
  if (before.phase != after.phase)
    return true;
  if (before.warp != after.warp)
    return false;
  if (earlier == later)
    return before.time != after.time; // one after the other in its own program
  uint32_t both = 1u << earlier | 1u << later;
  return std::ranges::any_of(warps_[after.warp].meetings, [&](const Meeting &meeting) {
    return meeting.tick > before.tick && (meeting.members & both) == both;
  });
}

} // namespace opsight::sight
