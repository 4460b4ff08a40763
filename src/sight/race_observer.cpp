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
  block_ = ~0ull;
  shared_.clear();
  global_.clear(); // launches are ordered
  sharedUnit_ = globalUnit_ = 4;
  isWritten_.assign(launch.watch.objects.size() + 1, false);
  for (const Site &site : launch.watch.sites) {
    if (!isAccess(site) || site.space == Space::Local)
      continue;
    bool isGlobal = site.space == Space::Global, anywhere = site.object < 0;
    uint32_t unit = std::min(4u, 1u << std::countr_zero(site.bytes | 4));
    if (isGlobal || anywhere)
      globalUnit_ = std::min(globalUnit_, unit);
    if (!isGlobal || anywhere)
      sharedUnit_ = std::min(sharedUnit_, unit);
    if (writes(site))
      isWritten_[anywhere ? launch.watch.objects.size() : size_t(site.object)] = true;
  }
}

/// What is only read cannot race, so inputs need no memory here.
bool RaceObserver::canRace(const Access &access) const {
  if (access.space == Space::Local)
    return false;
  return access.space == Space::Shared || access.object < 0 || isWritten_[size_t(access.object)] || isWritten_.back();
}

RaceObserver::Place &RaceObserver::placeAt(const Access &access, uint64_t unit) {
  if (access.space == Space::Global)
    return global_[unit];
  static Place outside; // another observer says so
  outside = {};
  return unit < shared_.size() ? shared_[unit] : outside;
}

/// Of `lanes`, those with the address of the first; where the second has another, the first alone: that is right too.
static uint32_t sameAddress(const Access &access, uint32_t lanes) {
  uint64_t address = access.addresses[size_t(std::countr_zero(lanes))];
  uint32_t same = lanes & -lanes;
  for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1) {
    uint32_t lane = uint32_t(std::countr_zero(rest));
    if (access.addresses[lane] == address)
      same |= 1u << lane;
    else if (same == (lanes & -lanes))
      break;
  }
  return same;
}

void RaceObserver::access(const Access &access) {
  if (access.block != block_) {
    block_ = access.block;
    shared_.assign((launch_->sharedBytes + sharedUnit_ - 1) / sharedUnit_, {});
  }
  if (access.space == Space::Global && (access.site.kind == Site::Kind::Atomic || access.site.isVolatile))
    for (uint32_t rest = access.mask; rest; rest &= rest - 1)
      clock_.meet(access, access.addresses[size_t(std::countr_zero(rest))]);
  if (!canRace(access))
    return;
  Moment now = clock_.now(access);
  uint32_t size = access.space == Space::Global ? globalUnit_ : sharedUnit_;
  for (uint32_t rest = access.mask; rest;) {
    uint32_t lane = uint32_t(std::countr_zero(rest));
    uint64_t address = access.addresses[lane];
    uint32_t together = 1u << lane; // threads that read one word at once leave one trace in it
    if (!writes(access.site))
      together = sameAddress(access, rest);
    rest &= ~together;
    for (uint64_t unit = address / size; unit <= (address + access.site.bytes - 1) / size; ++unit)
      touch(placeAt(access, unit), access, now, together, access.values[lane], address);
  }
}

/// A thread of `before` and one of `lanes` that nothing orders, where their accesses can race.
std::optional<RaceObserver::Pair> RaceObserver::unordered(const Trace &before, const Access &access, const Moment &now,
                                                          uint32_t lanes) const {
  if (before.lanes == 0)
    return std::nullopt;
  const Site &other = launch_->watch.sites[before.site];
  if (access.site.kind == Site::Kind::Atomic && other.kind == Site::Kind::Atomic)
    return std::nullopt;
  uint32_t first = uint32_t(std::countr_zero(before.lanes)), last = uint32_t(std::countr_zero(lanes));
  if (before.when.block != now.block || before.when.warp != now.warp)
    return clock_.ordered(before.when, first, now, last) ? std::nullopt : std::optional(Pair{first, last});
  if (before.when.time != now.time && access.site.isVolatile && other.isVolatile)
    return std::nullopt;
  for (uint32_t mine = lanes; mine; mine &= mine - 1)
    for (uint32_t theirs = before.lanes; theirs; theirs &= theirs - 1) {
      uint32_t later = uint32_t(std::countr_zero(mine)), earlier = uint32_t(std::countr_zero(theirs));
      if (earlier != later && !clock_.ordered(before.when, earlier, now, later))
        return Pair{earlier, later};
    }
  return std::nullopt;
}

void RaceObserver::touch(Place &place, const Access &access, const Moment &now, uint32_t lanes, uint32_t value,
                         uint64_t address) {
  auto against = [&](const Trace &before) {
    if (auto pair = unordered(before, access, now, lanes))
      clash(before, access, now, *pair, value, address);
  };
  against(place.write);
  if (writes(access.site)) {
    against(place.reads[0]);
    against(place.reads[1]);
    place.write = {now, lanes, access.number, value, access.hasValues};
    return;
  }
  Trace read{now, lanes, access.number, 0, false};
  Trace &last = place.reads[0];
  bool sameMeeting = last.when.block == now.block && last.when.warp == now.warp && last.when.phase == now.phase &&
                     last.when.tick == now.tick;
  if (last.lanes && sameMeeting) {
    read.lanes |= last.lanes;
  } else if (last.when.block != now.block || last.when.warp != now.warp) {
    place.reads[1] = last;
  }
  last = read;
}

std::string RaceObserver::elementAt(const Access &access, uint64_t address) const {
  if (access.object < 0)
    return fmt::format("the word at {:#x}", address);
  const card::WatchedObject &object = launch_->watch.objects[size_t(access.object)];
  uint64_t start = object.offset;
  if (access.space == Space::Global) {
    auto region = std::ranges::find(launch_->regions, object.name, &card::Region::name);
    start = region == launch_->regions.end() ? 0 : region->address;
  }
  return elementName(object, int64_t(address - start), access.site.bytes);
}

void RaceObserver::clash(const Trace &before, const Access &access, const Moment &now, Pair pair, uint32_t value,
                         uint64_t address) {
  const Site &first = launch_->watch.sites[before.site], &second = access.site;
  bool harmless = first.kind == Site::Kind::Store && second.kind == Site::Kind::Store && before.hasValue &&
                  access.hasValues && before.value == value && first.bytes == second.bytes;
  Clash &clash = clashes_[{first.where.file, first.where.line, second.where.file, second.where.line}];
  bool worse = clash.count > 0 && clash.isBenign && !harmless;
  ++clash.count;
  clash.isBenign &= harmless;
  clash.finding.evidence["count"] = double(clash.count);
  if (clash.count > 1 && !worse)
    return;
  bool isSame = before.when.block == now.block;
  std::string one = threadName(*launch_, before.when.block, before.when.warp, pair.earlier);
  std::string other = threadName(*launch_, now.block, now.warp, pair.later);
  clash.finding.kind = "race";
  clash.finding.where = second.where;
  clash.finding.what = fmt::format(
      "{} {} {} here, {} {} it at {}, and {}", other, verbOf(second.kind), elementAt(access, address), one,
      verbOf(first.kind), lineName(first.where),
      isSame ? (before.when.warp == now.warp ? "no __syncwarp() or barrier is between" : "no barrier is between")
             : "nothing orders the blocks");
  if (harmless)
    clash.finding.what += "; both write the same value";
  clash.finding.said = {{"other_line", lineName(first.where)}, {"first", one}, {"second", other}};
  clash.finding.cost = harmless ? 0 : 1;
  clash.finding.isFault = !harmless;
  clash.finding.isBenign = harmless;
  clash.finding.why = harmless ? "the result does not depend on the order, but the language does not promise it"
                               : "which of the two comes first is chance, and with it the result";
  clash.finding.change =
      isSame ? (access.space == Space::Shared ? "put __syncthreads() between the two lines"
                                              : "put __syncthreads() between the two lines, or use an atomic operation")
             : "use an atomic operation, or a second launch for what needs the other blocks' results";
}

std::vector<Finding> RaceObserver::findings() const {
  std::vector<Finding> all;
  for (const auto &[lines, clash] : clashes_)
    all.push_back(clash.finding);
  return all;
}

} // namespace opsight::sight
