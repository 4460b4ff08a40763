// What the pieces of assess share: the kernel, the card, and the load whose parts findings would save.
#pragma once
#include "sight/assess.h"
#include "sight/bank_model.h"
#include "sight/roofline.h"

namespace opsight::sight {

struct Assessment {
  const Seen &seen;
  const card::Profile &profile;
  Roofline roofline;
  Load load;
  double issueShare = 1; // of what the SMs could issue, by the warps that fit
  uint32_t sectorBytes = 32;
  BankGeometry banks;
  Findings &result;

  /// Adds `finding`, with the cost of `saved`, if it is worth a reader's time.
  void add(Finding finding, const Load &saved);
  /// Adds it whatever it costs.
  void keep(Finding finding);
  double threads() const { return double(seen.launch.grid.count()) * double(seen.launch.block.count()); }
};

void assessBanks(Assessment &assessment);
void assessSectors(Assessment &assessment);
void assessLocalMemory(Assessment &assessment);
void assessLimits(Assessment &assessment);
void assessOccupancy(Assessment &assessment);
void assessIdleThreads(Assessment &assessment);

/// "1,024", "12.5": figures as sentences show them.
std::string count(double value);
std::string share(double part); // "38 %"

} // namespace opsight::sight
