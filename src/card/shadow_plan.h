// What the shadow memory of a launch under checks (shadow.h) holds: for which objects, in which units, where. The
// compiler and the tool both go by it.
#pragma once
#include "card/shadow.h"
#include "card/watch.h"
#include <variant>

namespace opsight::card {

/// How the sites of a kernel use an object.
struct ShadowUse {
  uint32_t shift = 2; // log2 of a unit's bytes: no access of the object is smaller, and none of more than 4 counts
  bool hasCells = false, hasReaders = false;
  uint32_t skew = 0; // what its first byte's address is modulo 16, as a card would have it
};

/// Beside `watch.objects`. What is only read cannot race, and who it is read by matters only where it is written.
std::vector<ShadowUse> shadowUses(const Watch &watch);
/// how::… of an access to an object used like this, as far as the object decides it.
uint32_t howOf(const ShadowUse &use, Space space);

/// Shadow memory of one launch.
class LaunchShadow {
public:
  /// Of at most `mostBytes`; in words why there is none: then only observers can decide.
  static std::variant<LaunchShadow, std::string> plan(const WatchedLaunch &launch, uint64_t mostBytes);

  uint64_t bytes() const { return bytes_; }
  /// Makes `memory`, of at least bytes(), what the launch begins with.
  void fill(std::span<std::byte> memory) const;

  /// After the launch: the site at which something may be wrong first; none where all is well.
  static std::optional<uint32_t> suspectSite(std::span<const std::byte> memory);
  static bool isUndecided(std::span<const std::byte> memory);
  /// Whether every unit of object `number` has been written.
  bool isWritten(std::span<const std::byte> memory, size_t number) const;

private:
  std::vector<ShadowObject> objects_;
  uint64_t bytes_ = 0;
  uint32_t warps_ = 0;
};

} // namespace opsight::card
