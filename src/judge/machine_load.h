// Whether others than who is measured keep this machine's processors busy: then a time says as much of them as of the
// kernel, and interleaving does not help, since a kernel that needs every core suffers more than one that does not.
#pragma once
#include "card/session.h"

namespace opsight::judge {

/// Seconds of all processors together since the machine started: spent on anything, and in all.
struct ProcessorTimes {
  double busy = 0, all = 0;

  /// From the text of /proc/stat; time that a hypervisor took away counts as busy. None where it cannot be read.
  static std::optional<ProcessorTimes> parse(const std::string &stat);
};

class MachineLoad {
public:
  /// From now on; `session` outlives this.
  explicit MachineLoad(const card::Session &session);
  /// The share of the processors, 0…1, that others than this process and the session's worker have had since then. None
  /// where the machine does not tell, or too little time has gone by.
  std::optional<double> othersShare() const;

private:
  struct Sample {
    ProcessorTimes machine;
    double own = 0; // seconds of ours
  };
  std::optional<Sample> sample() const;

  const card::Session &session_;
  std::optional<Sample> start_;
};

} // namespace opsight::judge
