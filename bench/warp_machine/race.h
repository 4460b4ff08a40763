// The timing: contenders take turns A B C A B C …, each turn being a few launches in a row behind one that warms the
// caches. A turn's time is that of its fastest launch, since other load of the machine only ever adds; contenders are
// compared by the ratios of their turns in the same round, so that what changes slowly cancels out.
//
// Google Benchmark is not used: it runs one benchmark to its end before the next (its random interleaving shuffles
// repetitions, but knows no rounds, hence no paired ratios), and the time is measured in another process, the worker.
#pragma once
#include "contender.h"
#include "judge/statistics.h"

namespace opsight::bench {

/// One contender's part in one workload.
struct Part {
  Contender *contender = nullptr; // null: the card has no device here
  std::string card, label{};      // "cpu"; "cpu/32" where its lanes are given
  std::vector<std::string> notes{}; // what our translation did
  std::string failure{};          // why it was not timed; empty when it was
  bool isWrong = false;           // the results were: worse than not supported
  /// What a verdict's checks find suspicious in a right kernel, so that it has to be published, too; empty: nothing.
  std::string suspicion() const;
  judge::Interval seconds{};      // of a launch
  judge::Interval ratio{};        // its seconds / those of the first part, round by round; over 1: the first is faster
  std::vector<double> turns{};    // seconds, by round
};

struct Outcome {
  std::string name, size;
  bool usesWarps = false;
  Roof roof = Roof::None;
  double work = 0;          // operations or bytes, by `roof`
  std::vector<Part> parts;  // the first is what the others are compared with
  judge::Interval roofRate{}; // GFLOP/s or GB/s
  judge::Interval share{};    // of the first part, of the roof
};

/// Launches every part once and compares the results; fills `failure`.
void check(const Workload &workload, Outcome &outcome);
/// Rounds for about `seconds` among the parts without failure; for a few times longer where else they would be fewer than
/// an interval needs.
Status time(const Workload &workload, double seconds, Outcome &outcome);

} // namespace opsight::bench
