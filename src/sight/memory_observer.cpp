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
  extents_.clear();
  for (const card::WatchedObject &object : launch.watch.objects) {
    Extent extent{object.offset, object.isDynamic ? launch.config.dynamicSharedBytes : object.bytes, -1, true};
    if (object.space == Space::Global) {
      auto region = std::ranges::find(launch.regions, object.name, &card::Region::name);
      extent.isKnown = region != launch.regions.end();
      if (extent.isKnown)
        extent = {region->address, region->bytes, int32_t(region - launch.regions.begin()), true};
    }
    extents_.push_back(extent);
  }
  block_ = ~0ull;
  for (const card::Region &region : launch.regions)
    if (!region.isInitialised)
      globalWritten_.try_emplace(region.address, region.bytes, 0);
}

/// Of an address that is derived from nothing known, the buffer it lies in.
MemoryObserver::Extent MemoryObserver::extentOf(const Access &access, uint64_t address) const {
  if (access.object >= 0)
    return extents_[size_t(access.object)];
  if (access.space == Space::Global)
    for (size_t i = 0; i < launch_->regions.size(); ++i)
      if (const card::Region &region = launch_->regions[i]; address - region.address < region.bytes)
        return {region.address, region.bytes, int32_t(i), true};
  return {};
}

void MemoryObserver::enterBlock(uint64_t block) {
  if (block == block_)
    return;
  block_ = block;
  sharedWritten_.assign(launch_->sharedBytes, 0);
}

void MemoryObserver::access(const Access &access) {
  enterBlock(access.block);
  checkAlignment(access);
  for (uint32_t rest = access.mask; rest; rest &= rest - 1)
    checkBounds(access, uint32_t(std::countr_zero(rest)));
  if (access.space != Space::Local)
    checkInitialised(access);
}

static bool isInside(uint64_t address, uint64_t bytes, uint64_t start, uint64_t size) {
  return address >= start && address - start <= size && size - (address - start) >= bytes;
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

/// By byte, what of `extent` has been written; null where all of it holds data.
std::vector<uint8_t> *MemoryObserver::written(const Access &access, const Extent &extent) {
  if (access.space == Space::Shared)
    return &sharedWritten_;
  auto found = globalWritten_.find(extent.start);
  return found == globalWritten_.end() ? nullptr : &found->second;
}

void MemoryObserver::checkInitialised(const Access &access) {
  if (access.space == Space::Global && globalWritten_.empty())
    return;
  bool reads = access.site.kind != card::Site::Kind::Store, writes = access.site.kind != card::Site::Kind::Load;
  bool told = false;
  for (int pass = 0; pass < 2; ++pass) // all of a warp read before any of it writes
    for (uint32_t rest = access.mask; rest; rest &= rest - 1) {
      uint32_t lane = uint32_t(std::countr_zero(rest));
      Extent extent = extentOf(access, access.addresses[lane]);
      std::vector<uint8_t> *bytes = extent.isKnown ? written(access, extent) : nullptr;
      uint64_t first = access.addresses[lane] - (access.space == Space::Shared ? 0 : extent.start);
      if (!bytes || first >= bytes->size() || bytes->size() - first < access.site.bytes)
        continue;
      auto from = bytes->begin() + int64_t(first), to = from + access.site.bytes;
      if (pass == 1 && writes)
        std::fill(from, to, 1);
      if (pass == 1 || !reads || told || std::find(from, to, 0) == to)
        continue;
      told = true;
      std::string name = access.object < 0
                             ? "memory"
                             : elementName(launch_->watch.objects[size_t(access.object)],
                                           int64_t(access.addresses[lane] - extent.start), access.site.bytes);
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
