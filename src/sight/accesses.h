// What each place of the source did to one space of memory over a launch: the tally that observers of memory fill.
#pragma once
#include "sight/findings.h"

namespace opsight::sight {

/// The addresses of one passage, kept to see how it was and to try what would change it.
struct Sample {
  std::array<uint64_t, 32> addresses{};
  uint32_t mask = 0;
};

/// All passages of warps through one site that touched one space.
struct SiteAccesses {
  card::Site site;
  card::Space space = card::Space::Global;
  int32_t object = -1;  // index into Watch::objects; -1: several, or known at run time only
  std::string variable; // its name, empty where there is none
  uint64_t requests = 0, threads = 0;
  uint64_t taken = 0, ideal = 0; // wavefronts or sectors, whatever the observer counts
  std::vector<Sample> samples;   // spread over the launch, a few dozen at most
  uint64_t bytes() const { return threads * site.bytes; }
};

/// Counts passages by site and space.
class AccessTally {
public:
  void begins(const card::WatchedLaunch &launch);
  void add(const card::Access &access, uint64_t taken, uint64_t ideal);
  /// Those that anybody passed, in the order of their sites.
  std::vector<SiteAccesses> sites() const;

private:
  static constexpr size_t spaces = 3;
  struct Counters {
    uint64_t requests = 0, threads = 0, taken = 0, ideal = 0;
    uint64_t nextSample = 1,
             lastSample = 1; // numbers of passages, growing like Fibonacci's: no loop's length divides them all
    int32_t object = -1;
    bool mixed = false;
    std::vector<Sample> samples;
  };
  void sample(Counters &of, const card::Access &access);

  const card::Watch *watch = nullptr;
  std::vector<Counters> counters; // by site and space
};

/// Sites of one line, space and kind together, in the order of lines. `inWavefronts`: what was counted are wavefronts,
/// else sectors where the space is global.
std::vector<LineAccesses> byLine(std::span<const SiteAccesses> sites, bool inWavefronts);

/// Bytes between neighbouring threads, where it is the same between all of them and in all of `samples`.
std::optional<int64_t> evenStride(std::span<const Sample> samples);
/// The distance between neighbouring threads that occurs most often in `samples`, none counted as one.
uint64_t usualStep(std::span<const Sample> samples);

} // namespace opsight::sight
