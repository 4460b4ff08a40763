// Races: two threads access the same place, one of them writes, and nothing orders the two. Atomic operations do not
// race with each other. Within a warp, volatile accesses are taken as programs from before __syncwarp() meant them.
//
// For each place the last write and the last two reads by different warps are kept, which finds a race of every pair
// that some access of the launch completes, though not always the first one of it.
#pragma once
#include "sight/block_clock.h"
#include "sight/findings.h"
#include <unordered_map>

namespace opsight::sight {

class RaceObserver final : public card::Observer {
public:
  void begins(const card::WatchedLaunch &launch) override;
  void access(const card::Access &access) override;
  void barrier(const card::Passage &passage) override { clock_.barrier(passage); }
  void warpSync(const card::Passage &passage, uint32_t members) override { clock_.warpSync(passage, members); }
  void fence(const card::Passage &passage) override { clock_.fence(passage); }

  /// One a pair of lines: its first, and how many there were.
  std::vector<Finding> findings() const;

private:
  /// Threads of one warp that came by a place at one moment.
  struct Trace {
    Moment when;
    uint32_t lanes = 0; // 0: nobody
    uint32_t site = 0, value = 0;
    bool hasValue = false;
  };
  struct Place {
    Trace write, reads[2];
  };
  struct Clash {
    Finding finding;
    uint64_t count = 0;
    bool isBenign = true;
  };

  void touch(Place &place, const card::Access &access, const Moment &now, uint32_t lanes, uint32_t value,
             uint64_t address);
  struct Pair {
    uint32_t earlier, later; // lanes
  };
  std::optional<Pair> unordered(const Trace &before, const card::Access &access, const Moment &now,
                                uint32_t lanes) const;
  void clash(const Trace &before, const card::Access &access, const Moment &now, Pair pair, uint32_t value,
             uint64_t address);
  bool canRace(const card::Access &access) const;
  Place &placeAt(const card::Access &access, uint64_t unit);
  std::string elementAt(const card::Access &access, uint64_t address) const;

  const card::WatchedLaunch *launch_ = nullptr;
  BlockClock clock_;
  uint64_t block_ = ~0ull;
  uint32_t sharedUnit_ = 4, globalUnit_ = 4; // bytes of a place: no access is smaller
  std::vector<bool> isWritten_;              // beside Watch::objects; the last: what is derived from nothing known
  std::vector<Place> shared_;
  std::unordered_map<uint64_t, Place> global_;
  std::map<std::tuple<std::string, unsigned, std::string, unsigned>, Clash> clashes_;
};

} // namespace opsight::sight
