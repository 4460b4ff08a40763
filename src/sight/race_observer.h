// Races: two threads access the same place, one of them writes, and nothing orders the two. Atomic operations do not
// race with each other. Within a warp, volatile accesses are taken as programs from before __syncwarp() meant them.
//
// For each place the last write is kept, the last warp that read it, and one that read it before: that finds a race of
// every pair of lines that some access of the launch completes.
#pragma once
#include "sight/block_clock.h"
#include "sight/findings.h"

namespace opsight::sight {

class RaceObserver final : public card::Observer {
public:
  void begins(const card::WatchedLaunch &launch) override;
  void access(const card::Access &access) override;
  void barrier(const card::Passage &passage) override { clock_.barrier(passage); }
  void gridBarrier(const card::Passage &passage) override { clock_.gridBarrier(passage); }
  void warpSync(const card::Passage &passage, uint32_t members) override { clock_.warpSync(passage, members); }
  void fence(const card::Passage &passage) override { clock_.fence(passage); }

  /// One a pair of lines: its first, and how many there were.
  std::vector<Finding> findings() const;

private:
  /// What most accesses need to look at.
  struct Head {
    Stamp write, read; // read: the last warp's, Stamp::several where there were others in the phase
  };
  struct Reader {
    Moment when;
    uint32_t site = 0, lanes = 0;
  };
  struct Writer {
    Moment when;
    uint32_t site = 0, value = 0;
    bool hasValue = false;
  };
  /// Memory whose places are watched: shared memory, or a buffer that is written. The vectors lie side by side.
  struct Shadow {
    uint64_t start = 0, bytes = 0;
    uint32_t unitShift = 2; // of a place's bytes: no access is smaller
    bool isShared = false;
    std::vector<Head> heads;
    std::vector<Writer> writers;
    std::vector<Reader> last, before; // the last warp that read, and of those that may still matter the one before it
  };
  struct Clash {
    Finding finding;
    uint64_t count = 0;
    bool isBenign = true;
  };

  Shadow *shadowOf(const card::Access &access);
  bool isSettled(const Shadow &shadow, const card::Access &access, Stamp stamp) const;
  void read(Shadow &shadow, uint64_t unit, const card::Access &access, Moment now, uint32_t lanes);
  void write(Shadow &shadow, uint64_t unit, const card::Access &access, Moment now);
  void check(const Moment &before, uint32_t beforeSite, const Writer *written, const card::Access &access,
             const Moment &now);
  void checkReader(const Reader &reader, const card::Access &access, const Moment &now);
  void clash(const Moment &before, const card::Site &first, bool harmless, const card::Access &access,
             const Moment &now);
  std::string elementAt(const card::Access &access, uint64_t address) const;

  const card::WatchedLaunch *launch_ = nullptr;
  BlockClock clock_;
  Shadow shared_;
  std::vector<Shadow> buffers_;   // beside the launch's regions; without places where nothing is written
  std::vector<int32_t> regionOf_; // beside Watch::objects; -1: none
  std::map<std::tuple<std::string, unsigned, std::string, unsigned>, Clash> clashes_;
};

} // namespace opsight::sight
