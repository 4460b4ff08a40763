// Speed of a candidate against a reference: A B A B … in one worker, pairs, and the median of their ratios. Every timed
// run is on data that its buffers have not seen before, and every output of it is judged.
#pragma once
#include "judge/accuracy.h"

namespace opsight::judge {

struct TimingPlan {
  double narrowEnough = 0.02; // interval's width over the ratio at which measuring ends
  double seconds = 6;         // after this it ends anyway; twice this while the interval straddles the bar
  int fewestPairs = 11, mostPairs = 400;
  int dataSets = 3;
};

struct TimedCase {
  SpeedCase speed;
  std::optional<CaseResult> wrong; // a run of the candidate that was wrong although earlier ones were right
};

/// What a candidate is timed against: a build that runs in turn with it, or seconds that were recorded elsewhere.
struct Opponent {
  std::string name;
  const Build *build = nullptr;
  double recordedSeconds = 0; // where there is no build
};

/// An Error: the reference is wrong or cannot run here, or the session is unusable.
Result<TimedCase> timeCase(card::Session &session, Programs &programs, const ops::Operator &op, const ops::Case &c,
                           const Build &candidate, const Opponent &reference, const Bar &bar,
                           const card::Session::Peak &peak, uint64_t seed, const Progress &progress,
                           const TimingPlan &plan = {});

/// Whether `seconds` for `work` cannot be: under the clock's resolution, or faster than the machine by its own measure.
bool implausible(const ops::Work &work, double seconds, const card::Session::Peak &peak);

} // namespace opsight::judge
