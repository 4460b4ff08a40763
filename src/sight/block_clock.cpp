// See block_clock.h.
#include "sight/block_clock.h"
#include <algorithm>

namespace opsight::sight {

void BlockClock::begins(const card::WatchedLaunch &launch) {
  *this = {};
  warps_.resize(launch.warps());
  warpsOfGrid_ = launch.warps() * launch.config.grid.count();
}

void BlockClock::enter(uint64_t block) {
  if (block == block_)
    return;
  block_ = block;
  first_ = next_;
  ++next_;
  blocks_.push_back({first_, block});
  for (Warp &warp : warps_) {
    warp.phase = warp.tick = 0;
    warp.meetings.clear();
  }
}

uint64_t BlockClock::blockOf(Stamp stamp) const {
  auto behind = std::ranges::upper_bound(blocks_, stamp.phase(), {}, &Begin::phase);
  return behind == blocks_.begin() ? 0 : std::prev(behind)->block;
}

Moment BlockClock::now(const card::Passage &passage) {
  enter(passage.block);
  const Warp &warp = warps_[passage.warp];
  return {Stamp::of(first_ + warp.phase, passage.warp), ++time_, uint16_t(warp.tick), 0};
}

void BlockClock::barrier(const card::Passage &passage) {
  enter(passage.block);
  Warp &warp = warps_[passage.warp];
  ++warp.phase;
  warp.tick = 0;
  warp.meetings.clear();
  next_ = std::max(next_, first_ + warp.phase + 1);
}

void BlockClock::gridBarrier(const card::Passage &passage) {
  barrier(passage);
  if (++met_ % warpsOfGrid_ == 0)
    metAt_ = time_;
}

void BlockClock::warpSync(const card::Passage &passage, uint32_t members) {
  enter(passage.block);
  Warp &warp = warps_[passage.warp];
  uint32_t met = members & passage.mask;
  warp.tick = std::min(warp.tick + 1, 0xFFFFu);
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

bool BlockClock::ordered(const Moment &before, const Moment &after) const {
  if (before.time <= metAt_)
    return true;
  if (before.stamp.phase() < first_) { // of another block
    auto own = known_.find(block_);
    if (own == known_.end())
      return false;
    auto known = own->second.find(blockOf(before.stamp));
    return known != own->second.end() && known->second > before.time;
  }
  if (before.stamp.phase() != after.stamp.phase())
    return true;
  if (before.stamp.warp() != after.stamp.warp())
    return false;
  uint32_t both = 1u << before.lane | 1u << after.lane;
  return std::ranges::any_of(warps_[after.stamp.warp()].meetings, [&](const Meeting &meeting) {
    return meeting.tick > before.tick && (meeting.members & both) == both;
  });
}

} // namespace opsight::sight
