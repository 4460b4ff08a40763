// What a kernel's time on a card is modelled to be: the longest of what each resource would take alone.
//
//   fp32           flops, idle lanes of a warp included, over the card's single-precision peak
//   memory         sectors times their bytes, over the bandwidth of DRAM: as if no cache held any of them
//   shared memory  wavefronts of shared memory and of local arrays, over one a clock and SM
//   instructions   instructions of warps (of the IR: the machine's own are fewer or more), over what the SMs issue
//
// Where so few warps fit an SM that they cannot hide the latency of plain arithmetic, it issues as many a clock as
// warps / warps needed allows, taking each instruction to wait for the one before. A cost is 1 - time without it /
// time. The model says what to look at first; it foretells no time.
#pragma once
#include "card/profile.h"
#include "sight/findings.h"

namespace opsight::sight {

struct Load {
  double flops = 0, bytes = 0, wavefronts = 0, instructions = 0;
  Load operator-(const Load &other) const {
    return {flops - other.flops, bytes - other.bytes, wavefronts - other.wavefronts, instructions - other.instructions};
  }
};

/// A card's rates, a second; none where the profile lacks a figure.
class Roofline {
public:
  explicit Roofline(const card::Profile &profile);

  /// `issueShare`: of the instructions that the SMs could issue, those that the warps there can.
  Model model(const Load &load, double issueShare = 1) const;
  /// The share of the time of `load` that is gone without `saved`; none where the profile has no figure of any resource
  /// that `saved` frees.
  std::optional<double> cost(const Load &load, const Load &saved, double issueShare = 1) const;
  /// The same, if warps enough hid the latencies.
  std::optional<double> costOfFewWarps(const Load &load, double issueShare) const;

private:
  std::optional<double> flops, bytes, wavefronts, instructions;
};

} // namespace opsight::sight
