// One line of the tuner's record (tuning_record.h): a candidate as it was judged, a search as it ended.
#pragma once
#include "base/expression.h"
#include "judge/verdict.h"

namespace opsight::port {

/// One candidate as it was judged once.
struct TrialLine {
  std::string candidate; // "recipe/flash_simd"
  Symbols values;        // of its parameters
  bool right = false;    // its accuracy; only right ones were timed
  double maxError = 0;
  std::optional<double> ratio{}, low{}, high{}, gflops{}, fractionOfPeak{};
  std::string day{};

  static TrialLine of(const std::string &candidate, const Symbols &values, const judge::Verdict &verdict);
};

struct WinnerLine {
  std::string candidate;
  Symbols values;
  std::vector<std::string> notes; // what the hints cost, as it was measured then
  double seconds = 0;             // that the search was given, where candidates were left unmeasured; else 0
  std::string day{};
};

/// "keys=64 queries=64", and back. Text that is none gives what was read until then.
std::string valuesText(const Symbols &values);
Symbols valuesFrom(std::string_view text);

} // namespace opsight::port
