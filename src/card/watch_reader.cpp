// See watch_reader.h. What is read may have been written by anybody: every number is looked at before it is used.
#include "card/watch_reader.h"
#include <algorithm>
#include <bit>

namespace opsight::card {

WatchReader::WatchReader(std::span<std::byte> memory, const WatchedLaunch &launch, std::span<Observer *const> observers)
    : launch_(launch), observers_(observers.begin(), observers.end()),
      header_(reinterpret_cast<WatchHeader *>(memory.data())),
      visits_(reinterpret_cast<const BlockVisits *>(memory.data() + sizeof(WatchHeader))),
      arrays_(launch.watch.objects.size(), 0) {
  uint64_t offset = watchRingOffset(launch.watch.blocks.size());
  std::ranges::fill(memory.first(offset), std::byte{0});
  header_->capacity = watchCapacity;
  header_->ringOffset = offset;
  ring_ = reinterpret_cast<const uint64_t *>(memory.data() + offset);
  hasShared_ = std::ranges::any_of(launch.watch.objects, [](auto &object) { return object.space == Space::Shared; });
  for (Observer *observer : observers_)
    observer->begins(launch_);
  thread_ = std::thread([this] { follow(); });
}

void WatchReader::follow() {
  constexpr int patience = 200; // looks at an empty ring before the processor is left to others
  int empty = 0;
  while (!over_.load(std::memory_order_acquire)) {
    if (readAll())
      empty = 0;
    else if (++empty < patience)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  readAll();
}

bool WatchReader::finish() {
  if (!thread_.joinable())
    return sound_;
  over_.store(true, std::memory_order_release);
  thread_.join();
  const std::vector<BlockVisits> seen(visits_, visits_ + launch_.watch.blocks.size());
  for (Observer *observer : observers_)
    observer->ends(seen);
  return sound_;
}

/// Whether there was anything.
bool WatchReader::readAll() {
  uint64_t written = std::atomic_ref(header_->written).load(std::memory_order_acquire);
  if (written == read_)
    return false;
  while (sound_ && read_ != written) {
    uint64_t available = written - read_;
    sound_ = available <= watchCapacity && readEvent(available);
    if (read_ % 4096 < 64) // soon enough for the kernel, seldom enough for the cache
      std::atomic_ref(header_->read).store(read_, std::memory_order_release);
  }
  if (!sound_)
    read_ = written; // the kernel must not wait for ever
  std::atomic_ref(header_->read).store(read_, std::memory_order_release);
  return true;
}

bool WatchReader::readEvent(uint64_t available) {
  if (available < eventHeaderWords)
    return false;
  uint64_t first = word(0), third = word(2);
  Head head{uint32_t(first >> 32),
            uint32_t(first >> 16 & 0xFFFF),
            uint32_t(third),
            uint32_t(third >> 32),
            word(1),
            unsigned(first >> 8 & 0xFF),
            Event(first & 0xFF)};
  if (head.block >= launch_.config.grid.count() || head.warp >= launch_.warps() || head.mask == 0)
    return false;
  if (head.block != block_) {
    block_ = head.block;
    if (auto waiting = waiting_.find(block_); waiting != waiting_.end())
      arrays_ = waiting->second;
  }
  if (head.event == Event::Access)
    return readAccess(head, available);
  if (head.event != Event::Array)
    return readPoint(head);
  if (available < eventHeaderWords + 1 || head.number >= arrays_.size())
    return false;
  arrays_[head.number] = word(eventHeaderWords);
  read_ += eventHeaderWords + 1;
  return true;
}

bool WatchReader::readPoint(const Head &head) {
  if (head.number >= launch_.watch.sites.size())
    return false;
  Passage passage{launch_.watch.sites[head.number], head.number, head.block, head.warp, head.mask};
  read_ += eventHeaderWords;
  if (head.event == Event::GridBarrier)
    waiting_.try_emplace(block_, arrays_);
  for (Observer *observer : observers_) {
    if (head.event == Event::GridBarrier)
      observer->gridBarrier(passage);
    else if (head.event == Event::Barrier)
      observer->barrier(passage);
    else if (head.event == Event::WarpSync)
      observer->warpSync(passage, head.more);
    else if (head.event == Event::Fence)
      observer->fence(passage);
    else
      return false;
  }
  return true;
}

bool WatchReader::readAccess(const Head &head, uint64_t available) {
  bool straight = head.form & Form::Straight, valued = head.form & Form::Values;
  uint64_t words = eventHeaderWords + (straight ? 2 : warpLanes) + (valued ? warpLanes / 2 : 0);
  if (available < words || head.number >= launch_.watch.sites.size())
    return false;
  const Site &site = launch_.watch.sites[head.number];
  Access access{{site, head.number, head.block, head.warp, head.mask}, site.space, site.object, {}, {}, valued};
  uint64_t at = eventHeaderWords;
  if (straight) {
    uint64_t base = word(at), step = word(at + 1);
    for (uint32_t lane = 0; lane < warpLanes; ++lane)
      access.addresses[lane] = base + lane * step;
    at += 2;
  } else {
    for (uint32_t lane = 0; lane < warpLanes; ++lane)
      access.addresses[lane] = word(at++);
  }
  for (uint32_t lane = 0; valued && lane < warpLanes; lane += 2) {
    uint64_t two = word(at++);
    access.values[lane] = uint32_t(two), access.values[lane + 1] = uint32_t(two >> 32);
  }
  access.summarise(straight ? std::optional(word(eventHeaderWords + 1)) : std::nullopt);
  read_ += words;
  if (!resolve(access))
    return false;
  for (Observer *observer : observers_)
    observer->access(access);
  return true;
}

int32_t WatchReader::arrayAt(uint64_t address) const {
  for (size_t i = 0; i < arrays_.size(); ++i)
    if (arrays_[i] && address - arrays_[i] < launch_.bytesOf(launch_.watch.objects[i]))
      return int32_t(i);
  return -1;
}

/// From addresses to offsets in the block's shared memory, where they lead there.
bool WatchReader::resolve(Access &access) {
  const auto &objects = launch_.watch.objects;
  if (access.space == Space::Local || !hasShared_ || (access.object >= 0 && access.space == Space::Global))
    return true;
  int32_t known = access.object;
  if (known < 0)
    known = arrayAt(access.addresses[size_t(std::countr_zero(access.mask))]);
  if (known < 0)
    return access.space != Space::Shared || !objects.empty();
  if (!arrays_[size_t(known)])
    return false;
  for (uint64_t &address : access.addresses) {
    int32_t own = access.object >= 0 ? known : arrayAt(address);
    size_t from = size_t(own >= 0 ? own : known);
    address = address - arrays_[from] + objects[from].offset;
  }
  access.space = Space::Shared;
  access.object = known;
  return true;
}

} // namespace opsight::card
