// See memory_observer.h.
#include "sight/memory_observer.h"
#include "sight/place_names.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace opsight::sight {

using card::Access, card::Space;

void MemoryObserver::begins(const card::WatchedLaunch &launch) {
  launch_ = &launch;
  for (const card::Region &region : launch.regions)
    if (!region.isInitialised)
      buffers_.try_emplace(region.address, region.bytes);
  extents_.clear();
  writtenOf_.clear();
  shared_ = WrittenBytes(launch.sharedBytes());
  for (const card::WatchedObject &object : launch.watch.objects) {
    Extent extent{object.offset, launch.bytesOf(object), true};
    if (object.space == Space::Global) {
      int32_t region = launch.regionOf(object);
      extent.isKnown = region >= 0;
      if (extent.isKnown)
        extent.start = launch.regions[size_t(region)].address, extent.bytes = launch.regions[size_t(region)].bytes;
    }
    extents_.push_back(extent);
    auto buffer = buffers_.find(extent.start);
    bool isBuffer = object.space == Space::Global && extent.isKnown && buffer != buffers_.end();
    writtenOf_.push_back(isBuffer ? &buffer->second : object.space == Space::Shared ? &shared_ : nullptr);
  }
  block_ = ~0ull;
  waiting_.clear();
}

void MemoryObserver::enter(uint64_t block) {
  if (block == block_)
    return;
  if (auto left = waiting_.find(block_); left != waiting_.end())
    left->second = shared_;
  block_ = block;
  if (auto waiting = waiting_.find(block); waiting != waiting_.end())
    shared_ = waiting->second;
  else
    shared_.clear();
}

void MemoryObserver::gridBarrier(const card::Passage &passage) {
  enter(passage.block);
  waiting_.try_emplace(passage.block); // filled when the block is left
}

/// Of an address that is derived from nothing known, the buffer it lies in.
MemoryObserver::Extent MemoryObserver::extentOf(const Access &access, uint64_t address) const {
  if (access.object >= 0)
    return extents_[size_t(access.object)];
  if (access.space == Space::Global)
    for (const card::Region &region : launch_->regions)
      if (address - region.address < region.bytes)
        return {region.address, region.bytes, true};
  return {};
}

static bool isInside(uint64_t address, uint64_t bytes, uint64_t start, uint64_t size) {
  return address >= start && address - start <= size && size - (address - start) >= bytes;
}

/// Whether all of a warp stay within the array that the site names, at addresses that they may have: nearly always.
static bool allInside(const Access &access, uint64_t start, uint64_t size) {
  bool inside = true;
  for (uint32_t rest = access.edges; rest; rest &= rest - 1) {
    uint64_t address = access.addresses[size_t(std::countr_zero(rest))];
    inside =
        inside && (address & (access.site.alignment - 1)) == 0 && isInside(address, access.site.bytes, start, size);
  }
  return inside;
}

void MemoryObserver::access(const Access &access) {
  enter(access.block);
  bool isSound = access.object >= 0 && extents_[size_t(access.object)].isKnown &&
                 allInside(access, extents_[size_t(access.object)].start, extents_[size_t(access.object)].bytes);
  if (!isSound) {
    checkAlignment(access);
    for (uint32_t rest = access.mask; rest; rest &= rest - 1)
      checkBounds(access, uint32_t(std::countr_zero(rest)));
  }
  if (access.space != Space::Local)
    checkInitialised(access);
}

void MemoryObserver::checkBounds(const Access &access, uint32_t lane) {
  uint64_t address = access.addresses[lane];
  Extent extent = extentOf(access, address);
  if (extent.isKnown && isInside(address, access.site.bytes, extent.start, extent.bytes))
    return;
  std::string verb = fmt::format("{} {} {} bytes", threadName(*launch_, access.block, access.warp, lane),
                                 verbOf(access.site.kind), access.site.bytes);
  const char *why =
      "the card has nothing there: the read gives what lies behind, the write spoils it, or the launch fails";
  const char *change = "guard the access by the array's length, or make the array as long as the index can grow";
  if (access.object < 0) {
    record("out_of_bounds", access, lane, verb + fmt::format(" at {:#x}, where no buffer of the launch is", address),
           why, change);
    return;
  }
  if (!extent.isKnown)
    return;
  const card::WatchedObject &object = launch_->watch.objects[size_t(access.object)];
  int64_t offset = int64_t(address - extent.start);
  int64_t past = offset < 0 ? -offset : std::max<int64_t>(0, offset - int64_t(extent.bytes));
  record("out_of_bounds", access, lane,
         fmt::format("{} at {}, {} bytes {} {} of {} bytes", verb, elementName(object, offset, access.site.bytes), past,
                     offset < 0 ? "before the start of" : "behind the end of",
                     object.name.empty() ? "a local array" : object.name, extent.bytes),
         why, change);
}

void MemoryObserver::checkAlignment(const Access &access) {
  uint64_t low = access.site.alignment - 1;
  if (low == 0)
    return;
  for (uint32_t rest = access.mask; rest; rest &= rest - 1) {
    uint32_t lane = uint32_t(std::countr_zero(rest));
    if ((access.addresses[lane] & low) == 0)
      continue;
    record("misaligned", access, lane,
           fmt::format("{} {} {} bytes at an address that is no multiple of {}",
                       threadName(*launch_, access.block, access.warp, lane), verbOf(access.site.kind),
                       access.site.bytes, access.site.alignment),
           "the card ends the launch at an access whose address is no multiple of its size",
           "start the rows at a multiple of the vector's size, or access single elements");
    return;
  }
}

/// Of accesses within one aligned word of bits each, which is what nearly all are.
static bool allWritten(const WrittenBytes &written, const Access &access, uint64_t start) {
  if (!std::has_single_bit(access.site.bytes) || access.site.bytes > 32)
    return false;
  bool all = true;
  for (uint32_t rest = access.distinct; rest; rest &= rest - 1) {
    uint64_t first = access.addresses[size_t(std::countr_zero(rest))] - start;
    all = all && first % access.site.bytes == 0 && first < written.size() && written.inWord(first, access.site.bytes);
  }
  return all;
}

void MemoryObserver::checkInitialised(const Access &access) {
  bool reads = access.site.kind != card::Site::Kind::Store, writes = access.site.kind != card::Site::Kind::Load;
  WrittenBytes *known = access.object >= 0 ? writtenOf_[size_t(access.object)] : nullptr;
  if (access.object >= 0 ? !known : access.space == Space::Global && buffers_.empty())
    return;
  if (!writes && known &&
      allWritten(*known, access, access.space == Space::Shared ? 0 : extents_[size_t(access.object)].start))
    return;
  bool told = false;
  for (int pass = reads ? 0 : 1; pass < (writes ? 2 : 1); ++pass) // all of a warp read before any of it writes
    for (uint32_t rest = access.mask; rest; rest &= rest - 1) {
      uint32_t lane = uint32_t(std::countr_zero(rest));
      Extent extent = extentOf(access, access.addresses[lane]);
      WrittenBytes *bytes = known;
      if (!bytes && extent.isKnown)
        if (auto buffer = buffers_.find(extent.start); buffer != buffers_.end())
          bytes = &buffer->second;
      uint64_t first = access.addresses[lane] - (access.space == Space::Shared ? 0 : extent.start);
      if (!bytes || first >= bytes->size() || bytes->size() - first < access.site.bytes)
        continue;
      if (pass == 1) {
        bytes->set(first, access.site.bytes);
        continue;
      }
      if (told || bytes->all(first, access.site.bytes))
        continue;
      told = true;
      int64_t offset = int64_t(access.addresses[lane] - extent.start);
      std::string name = access.object < 0
                             ? "memory"
                             : elementName(launch_->watch.objects[size_t(access.object)], offset, access.site.bytes);
      record("uninitialised", access, lane,
             fmt::format("{} {} {}, which nobody has written", threadName(*launch_, access.block, access.warp, lane),
                         verbOf(access.site.kind), name),
             "what it reads is whatever an earlier kernel left there", "write it first, the tail of a tile too");
    }
}

void MemoryObserver::record(const char *kind, const Access &access, uint32_t lane, std::string what, const char *why,
                            const char *change) {
  Fault &fault = faults_[{kind, access.site.where.file, access.site.where.line, access.site.where.column}];
  if (fault.count++ == 0) {
    fault.finding = {.kind = kind,
                     .where = access.site.where,
                     .what = std::move(what),
                     .cost = 1,
                     .why = why,
                     .change = change,
                     .isFault = true};
    fault.finding.said = {{"first", threadName(*launch_, access.block, access.warp, lane)},
                          {"access", verbOf(access.site.kind)}};
  }
  fault.finding.evidence["count"] = double(fault.count);
}

std::vector<Finding> MemoryObserver::findings() const {
  std::vector<Finding> all;
  for (const auto &[place, fault] : faults_)
    all.push_back(fault.finding);
  return all;
}

} // namespace opsight::sight
