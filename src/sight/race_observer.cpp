// See race_observer.h.
#include "sight/race_observer.h"
#include "sight/place_names.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace opsight::sight {

using card::Access, card::Site, card::Space;

static bool writes(const Site &site) { return site.kind != Site::Kind::Load; }
static bool isAccess(const Site &site) {
  return site.kind == Site::Kind::Load || site.kind == Site::Kind::Store || site.kind == Site::Kind::Atomic;
}

void RaceObserver::begins(const card::WatchedLaunch &launch) {
  launch_ = &launch;
  clock_.begins(launch);
  shared_ = {};
  shared_.bytes = launch.sharedBytes();
  shared_.isShared = true;
  buffers_.assign(launch.regions.size(), {}); // launches are ordered, so nothing is kept from the one before
  regionOf_.clear();
  for (const card::WatchedObject &object : launch.watch.objects)
    regionOf_.push_back(launch.regionOf(object));
  std::vector<bool> isWritten(buffers_.size(), false);
  for (size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i].start = launch.regions[i].address, buffers_[i].bytes = launch.regions[i].bytes;
  for (const Site &site : launch.watch.sites) {
    if (!isAccess(site) || site.space == Space::Local)
      continue;
    uint32_t shift = std::min(2u, uint32_t(std::countr_zero(site.bytes | 4)));
    int32_t region = site.object < 0 ? -1 : regionOf_[size_t(site.object)];
    if (region < 0) // shared, or anywhere
      shared_.unitShift = std::min(shared_.unitShift, shift);
    for (size_t i = 0; i < buffers_.size(); ++i)
      if (region == int32_t(i) || site.object < 0) {
        buffers_[i].unitShift = std::min(buffers_[i].unitShift, shift);
        isWritten[i] = isWritten[i] || writes(site);
      }
  }
  auto make = [](Shadow &shadow) {
    size_t count = ((shadow.bytes - 1) >> shadow.unitShift) + 1;
    shadow.heads.assign(count, {});
    shadow.writers.assign(count, {});
    shadow.last.assign(count, {});
    shadow.before.assign(count, {});
  };
  if (shared_.bytes)
    make(shared_);
  for (size_t i = 0; i < buffers_.size(); ++i)
    if (isWritten[i] && buffers_[i].bytes) // what is only read cannot race
      make(buffers_[i]);
}

RaceObserver::Shadow *RaceObserver::shadowOf(const Access &access) {
  if (access.space == Space::Shared)
    return &shared_;
  if (access.space == Space::Local)
    return nullptr;
  if (access.object >= 0)
    return regionOf_[size_t(access.object)] < 0 ? nullptr : &buffers_[size_t(regionOf_[size_t(access.object)])];
  uint64_t address = access.addresses[size_t(std::countr_zero(access.mask))];
  for (Shadow &buffer : buffers_)
    if (address - buffer.start < buffer.bytes)
      return &buffer;
  return nullptr;
}

/// A read that tells nothing new: nobody has written these places in this phase, or at all in another block, and that
/// they are read is known. Most reads are of this kind.
bool RaceObserver::isSettled(const Shadow &shadow, const Access &access, Stamp stamp) const {
  const uint32_t many = Stamp::of(stamp.phase(), Stamp::several).value, phase = stamp.phase();
  const uint64_t last = (access.site.bytes - 1) >> shadow.unitShift, size = shadow.heads.size();
  const Head *heads = shadow.heads.data();
  bool settled = true;
  for (uint32_t rest = access.distinct; rest; rest &= rest - 1) {
    uint64_t unit = (access.addresses[size_t(std::countr_zero(rest))] - shadow.start) >> shadow.unitShift;
    if (unit + last >= size)
      return false;
    for (uint64_t end = unit + last; unit <= end; ++unit) {
      const Head head = heads[unit];
      bool quiet = shadow.isShared ? head.write.phase() != phase : head.write.value == 0;
      settled &= quiet && ((head.read.value == stamp.value) | (head.read.value == many)) != 0;
    }
    if (!settled)
      return false;
  }
  return true;
}

void RaceObserver::access(const Access &access) {
  if (access.space == Space::Global && (access.site.kind == Site::Kind::Atomic || access.site.isVolatile))
    for (uint32_t rest = access.mask; rest; rest &= rest - 1)
      clock_.meet(access, access.addresses[size_t(std::countr_zero(rest))]);
  Shadow *shadow = shadowOf(access);
  if (!shadow || shadow->heads.empty())
    return;
  Moment now = clock_.now(access);
  bool isWrite = writes(access.site);
  if (!isWrite && isSettled(*shadow, access, now.stamp))
    return;
  for (uint32_t rest = access.mask; rest;) {
    now.lane = uint8_t(std::countr_zero(rest));
    uint64_t address = access.addresses[now.lane];
    uint32_t together = 1u << now.lane;
    for (uint32_t others = isWrite ? 0 : rest & (rest - 1); others; others &= others - 1) { // who reads the same word
      uint32_t other = uint32_t(std::countr_zero(others));
      if (access.addresses[other] != address)
        break;
      together |= 1u << other;
    }
    rest &= ~together;
    uint64_t unit = (address - shadow->start) >> shadow->unitShift;
    uint64_t end = unit + ((access.site.bytes - 1) >> shadow->unitShift);
    for (; unit <= end && unit < shadow->heads.size(); ++unit) // past the end: another observer says so
      isWrite ? write(*shadow, unit, access, now) : read(*shadow, unit, access, now, together);
  }
}

/// Compares with an earlier access of one thread; `written` is its place where that one wrote.
void RaceObserver::check(const Moment &before, uint32_t beforeSite, const Writer *written, const Access &access,
                         const Moment &now) {
  const Site &other = launch_->watch.sites[beforeSite];
  if (access.site.kind == Site::Kind::Atomic && other.kind == Site::Kind::Atomic)
    return;
  bool sameWarp = before.stamp == now.stamp;
  if (sameWarp && before.lane == now.lane)
    return;
  if (sameWarp && before.time != now.time && access.site.isVolatile && other.isVolatile)
    return;
  if (clock_.ordered(before, now))
    return;
  bool harmless = written && written->hasValue && access.hasValues && access.site.kind == Site::Kind::Store &&
                  other.kind == Site::Kind::Store && written->value == access.values[now.lane] &&
                  other.bytes == access.site.bytes;
  clash(before, other, harmless, access, now);
}

void RaceObserver::read(Shadow &shadow, uint64_t unit, const Access &access, Moment now, uint32_t lanes) {
  Head &head = shadow.heads[unit];
  if (shadow.isShared ? head.write.phase() == now.stamp.phase() : head.write.value != 0) {
    const Writer &writer = shadow.writers[unit];
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      now.lane = uint8_t(std::countr_zero(rest));
      check(writer.when, writer.site, &writer, access, now);
      if (head.write != now.stamp)
        break; // for all lanes the same
    }
  }
  Reader &last = shadow.last[unit];
  bool sameWarp = head.read.value && last.when.stamp == now.stamp;
  if (sameWarp && last.when.tick == now.tick) {
    last.lanes |= lanes;
    return;
  }
  bool samePhase = head.read.phase() == now.stamp.phase();
  if (head.read.value && !sameWarp && (samePhase || !shadow.isShared))
    shadow.before[unit] = last;
  now.lane = uint8_t(std::countr_zero(lanes));
  last = {now, access.number, lanes};
  head.read = samePhase && !sameWarp ? Stamp::of(now.stamp.phase(), Stamp::several) : samePhase ? head.read : now.stamp;
}

void RaceObserver::checkReader(const Reader &reader, const Access &access, const Moment &now) {
  for (uint32_t rest = reader.lanes; rest; rest &= rest - 1) {
    Moment before = reader.when;
    before.lane = uint8_t(std::countr_zero(rest));
    check(before, reader.site, nullptr, access, now);
    if (before.stamp != now.stamp)
      break; // for all lanes the same
  }
}

void RaceObserver::write(Shadow &shadow, uint64_t unit, const Access &access, Moment now) {
  Head &head = shadow.heads[unit];
  Writer &writer = shadow.writers[unit];
  // Barriers order what came before them, and shared memory is a block's own.
  auto matters = [&](Stamp stamp) { return shadow.isShared ? stamp.phase() == now.stamp.phase() : stamp.value != 0; };
  if (matters(head.write))
    check(writer.when, writer.site, &writer, access, now);
  if (matters(head.read)) {
    checkReader(shadow.last[unit], access, now);
    if (matters(shadow.before[unit].when.stamp))
      checkReader(shadow.before[unit], access, now);
  }
  head.write = now.stamp;
  writer = {now, access.number, access.values[now.lane], access.hasValues};
}

std::string RaceObserver::elementAt(const Access &access, uint64_t address) const {
  int32_t named = access.object;
  for (size_t i = 0; named < 0 && access.space == Space::Global && i < regionOf_.size(); ++i)
    if (regionOf_[i] >= 0 && address - launch_->regions[size_t(regionOf_[i])].address < launch_->regions[size_t(regionOf_[i])].bytes)
      named = int32_t(i);
  if (named < 0)
    return fmt::format("the word at {:#x}", address);
  const card::WatchedObject &object = launch_->watch.objects[size_t(named)];
  int32_t region = regionOf_[size_t(named)];
  uint64_t start = region < 0 ? object.offset : launch_->regions[size_t(region)].address;
  return elementName(object, int64_t(address - start), access.site.bytes);
}

void RaceObserver::clash(const Moment &before, const Site &first, bool harmless, const Access &access,
                         const Moment &now) {
  const Site &second = access.site;
  Clash &clash = clashes_[{first.where.file, first.where.line, second.where.file, second.where.line}];
  bool worse = clash.count > 0 && clash.isBenign && !harmless;
  ++clash.count;
  clash.isBenign &= harmless;
  clash.finding.evidence["count"] = double(clash.count);
  if (clash.count > 1 && !worse)
    return;
  bool isSame = before.stamp.phase() >= clock_.firstPhase(), sameWarp = before.stamp == now.stamp;
  std::string one = threadName(*launch_, clock_.blockOf(before.stamp), before.stamp.warp(), before.lane);
  std::string other = threadName(*launch_, access.block, access.warp, now.lane);
  const char *missing = !isSame    ? "nothing orders the blocks"
                        : sameWarp ? "no __syncwarp() or barrier is between"
                                   : "no barrier is between";
  Finding &finding = clash.finding;
  finding.kind = "race";
  finding.where = second.where;
  finding.what = fmt::format("{} {} {} here, {} {} it at {}, and {}{}", other, verbOf(second.kind),
                             elementAt(access, access.addresses[now.lane]), one, verbOf(first.kind),
                             lineName(first.where), missing, harmless ? "; both write the same value" : "");
  finding.said = {{"other_line", lineName(first.where)}, {"first", one}, {"second", other}};
  finding.cost = harmless ? 0 : 1;
  finding.isFault = !harmless;
  finding.isBenign = harmless;
  finding.why = harmless ? "the result does not depend on the order, but the language does not promise it"
                         : "which of the two comes first is chance, and with it the result";
  finding.change = !isSame ? "use an atomic operation, or a second launch for what needs the other blocks' results"
                   : access.space == Space::Shared
                       ? "put __syncthreads() between the two lines"
                       : "put __syncthreads() between the two lines, or use an atomic operation";
}

std::vector<Finding> RaceObserver::findings() const {
  std::vector<Finding> all;
  for (const auto &[lines, clash] : clashes_)
    all.push_back(clash.finding);
  return all;
}

} // namespace opsight::sight
