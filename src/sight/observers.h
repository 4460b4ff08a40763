// Observers of speed: what a watched launch costs on a card's memory and how its threads were used. Each is a listener
// of its own and knows nothing of the others.
#pragma once
#include "sight/accesses.h"
#include "sight/bank_model.h"
#include "sight/pattern_cache.h"
#include "sight/sector_model.h"

namespace opsight::sight {

/// Wavefronts of shared memory.
class Banks final : public card::Observer {
public:
  explicit Banks(const BankGeometry &geometry = {}) : geometry(geometry) {}
  void begins(const card::WatchedLaunch &launch) override { tally.begins(launch); }
  void access(const card::Access &access) override;
  std::vector<SiteAccesses> sites() const { return tally.sites(); }
  std::vector<LineAccesses> lines() const { return byLine(sites(), true); }

private:
  BankGeometry geometry;
  AccessTally tally;
  PatternCache<Wavefronts> cache;
};

/// Sectors of global memory.
class Coalescing final : public card::Observer {
public:
  explicit Coalescing(uint32_t sectorBytes = 32) : sectorBytes(sectorBytes) {}
  void begins(const card::WatchedLaunch &launch) override { tally.begins(launch); }
  void access(const card::Access &access) override;
  std::vector<SiteAccesses> sites() const { return tally.sites(); }
  std::vector<LineAccesses> lines() const { return byLine(sites(), false); }

private:
  uint32_t sectorBytes;
  AccessTally tally;
  PatternCache<Sectors> cache;
};

/// What was executed on each line and with how many threads; accesses to local memory.
class Counts final : public card::Observer {
public:
  void begins(const card::WatchedLaunch &launch) override;
  void access(const card::Access &access) override;
  void ends(std::span<const card::BlockVisits> visits) override;
  const std::vector<LineWork> &work() const { return lines; }
  std::vector<LineAccesses> local() const { return byLine(tally.sites(), false); }

private:
  const card::Watch *watch = nullptr;
  AccessTally tally;
  std::vector<LineWork> lines;
};

/// Totals over `accesses`, of all spaces, and `work`.
Totals totalsOf(std::span<const LineAccesses> accesses, std::span<const LineWork> work, uint32_t sectorBytes = 32);

} // namespace opsight::sight
