// See shadow_plan.h.
#include "card/shadow_plan.h"
#include <algorithm>
#include <bit>
#include <cstring>

namespace opsight::card {

static bool isAccess(const Site &site) {
  return site.space != Space::Local &&
         (site.kind == Site::Kind::Load || site.kind == Site::Kind::Store || site.kind == Site::Kind::Atomic);
}

/// All names of the dynamic array are the same memory.
static void joinDynamic(const Watch &watch, std::vector<ShadowUse> &uses) {
  ShadowUse all;
  auto each = [&](auto what) {
    for (size_t i = 0; i < uses.size(); ++i)
      if (watch.objects[i].isDynamic)
        what(uses[i]);
  };
  each([&](const ShadowUse &use) {
    all.shift = std::min(all.shift, use.shift);
    all.hasCells |= use.hasCells, all.hasReaders |= use.hasReaders;
  });
  all.hasReaders |= all.hasCells; // one name may be written and another read
  each([&](ShadowUse &use) { use.shift = all.shift, use.hasCells = all.hasCells, use.hasReaders = all.hasReaders; });
}

std::vector<ShadowUse> shadowUses(const Watch &watch) {
  std::vector<ShadowUse> uses(watch.objects.size());
  std::vector<bool> isRead(uses.size()), isWritten(uses.size());
  for (const Site &site : watch.sites)
    for (size_t i = 0; i < uses.size() && isAccess(site); ++i) {
      if (site.object >= 0 ? size_t(site.object) != i : watch.objects[i].space == Space::Local)
        continue;
      uses[i].shift = std::min(uses[i].shift, uint32_t(std::countr_zero(site.bytes | 4)));
      (site.kind == Site::Kind::Load ? isRead : isWritten)[i] = true;
    }
  for (size_t i = 0; i < uses.size(); ++i) {
    const WatchedObject &object = watch.objects[i];
    bool isShared = object.space == Space::Shared;
    uses[i].hasCells = isWritten[i] || (isShared && isRead[i]); // who reads shared memory asks who wrote it
    uses[i].hasReaders = isWritten[i] && isRead[i];
    uses[i].skew = isShared ? uint32_t(object.offset % 16) : 0;
  }
  joinDynamic(watch, uses);
  return uses;
}

uint32_t howOf(const ShadowUse &use, Space space) {
  return (space == Space::Shared ? how::shared : 0) | (use.hasCells ? how::cells | use.shift << how::shiftAt : 0) |
         (use.hasReaders ? how::readers : 0) | use.skew << how::skewAt;
}

/// Why buffers as these are more than the checks can tell apart; empty where they are not.
static std::string whyNot(const WatchedLaunch &launch, const std::vector<ShadowUse> &uses) {
  const auto &objects = launch.watch.objects;
  for (size_t i = 0; i < objects.size(); ++i) {
    int32_t own = launch.regionOf(objects[i]);
    if (own < 0) {
      // What is aligned to its elements: more is not known of it.
      auto asksMore = [&](const Site &site) {
        return site.object == int32_t(i) && site.alignment > objects[i].elementBytes;
      };
      if (objects[i].space == Space::Global && (uses[i].hasCells || std::ranges::any_of(launch.watch.sites, asksMore)))
        return "the launch does not say where " + objects[i].name + " is";
      continue;
    }
    const Region &region = launch.regions[size_t(own)];
    if (region.address % 16)
      return objects[i].name + " does not start at a multiple of 16 bytes";
    for (size_t k = 0; uses[i].hasCells && k < launch.regions.size(); ++k) {
      const Region &other = launch.regions[k];
      if (int32_t(k) != own && other.address < region.address + region.bytes &&
          region.address < other.address + other.bytes)
        return region.name + " and " + other.name + " are the same memory";
    }
  }
  return {};
}

/// Far more than any offset of an access: the bounds of what the launch does not say.
constexpr uint64_t anywhere = 1ull << 62;

static ShadowObject objectOf(const WatchedLaunch &launch, const WatchedObject &object, const ShadowUse &use) {
  ShadowObject made{.bytes = launch.bytesOf(object), .how = howOf(use, object.space)};
  if (object.space == Space::Shared)
    made.virgin = shadowNever, made.reach = made.bytes;
  if (object.space != Space::Global)
    return made;
  int32_t number = launch.regionOf(object);
  if (number < 0) {
    made.bytes = anywhere;
    return made;
  }
  const Region &region = launch.regions[size_t(number)];
  made.start = region.address;
  made.bytes = region.isInitialised || use.hasCells ? region.bytes : 0; // nobody writes it, so nobody may read it
  made.reach = made.bytes;
  made.virgin = region.isInitialised ? 0 : shadowNever;
  return made;
}

std::variant<LaunchShadow, std::string> LaunchShadow::plan(const WatchedLaunch &launch, uint64_t mostBytes) {
  std::vector<ShadowUse> uses = shadowUses(launch.watch);
  if (std::string why = whyNot(launch, uses); !why.empty())
    return why;
  LaunchShadow shadow;
  shadow.warps_ = launch.warps();
  uint64_t end = sizeof(ShadowHeader) + launch.watch.objects.size() * sizeof(ShadowObject);
  for (size_t i = 0; i < uses.size(); ++i) {
    ShadowObject object = objectOf(launch, launch.watch.objects[i], uses[i]);
    object.units = uses[i].hasCells && object.bytes ? ((object.bytes - 1) >> uses[i].shift) + 1 : 0;
    bool isSame = false; // dynamic, by another name
    for (size_t k = 0; k < i && launch.watch.objects[i].isDynamic; ++k)
      if (launch.watch.objects[k].isDynamic)
        object.writes = shadow.objects_[k].writes, object.readers = shadow.objects_[k].readers, isSame = true;
    for (auto [has, at] : {std::pair(uses[i].hasCells, &object.writes), {uses[i].hasReaders, &object.readers}})
      if (has && !isSame) {
        *at = (end + 63) / 64 * 64 + shadowPad * sizeof(uint32_t);
        end = *at + (object.units + shadowPad) * sizeof(uint32_t);
      }
    if (end > mostBytes)
      return "what is to be remembered of " + launch.watch.objects[i].name + " takes more memory than there is";
    shadow.objects_.push_back(object);
  }
  shadow.bytes_ = end;
  return shadow;
}

void LaunchShadow::fill(std::span<std::byte> memory) const {
  std::ranges::fill(memory.first(bytes_), std::byte{0});
  ShadowHeader header{};
  header.next = stamp::firstPhase;
  header.objects = uint32_t(objects_.size());
  header.warps = warps_;
  std::memcpy(memory.data(), &header, sizeof header);
  std::ranges::copy(std::as_bytes(std::span(objects_)), memory.begin() + sizeof header);
}

static uint32_t wordAt(std::span<const std::byte> memory, uint64_t offset) {
  uint32_t word;
  std::memcpy(&word, &memory[offset], sizeof word);
  return word;
}

std::optional<uint32_t> LaunchShadow::suspectSite(std::span<const std::byte> memory) {
  uint32_t number = wordAt(memory, offsetof(ShadowHeader, suspect));
  return number ? std::optional(number - 1) : std::nullopt;
}

bool LaunchShadow::isUndecided(std::span<const std::byte> memory) {
  return wordAt(memory, offsetof(ShadowHeader, undecided)) != 0;
}

bool LaunchShadow::isWritten(std::span<const std::byte> memory, size_t number) const {
  const ShadowObject &object = objects_[number];
  for (uint64_t unit = 0; unit < object.units; ++unit)
    if (wordAt(memory, object.writes + unit * sizeof(uint32_t)) == 0)
      return false;
  return object.writes != 0;
}

} // namespace opsight::card
