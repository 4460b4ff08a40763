// Accuracy of one candidate over many cases. Each case runs three times: on new data; on the same data at other
// addresses with the other poison, bit for bit the same; and on other data again.
#pragma once
#include "judge/metric.h"
#include "judge/trial.h"
#include <set>

namespace opsight::judge {

/// What the runs of one candidate showed, for the list of checks.
struct Observed {
  int runs = 0;                     // launches that ended well
  int repeated = 0;                 // pairs that were compared bit for bit
  int weighed = 0;                  // runs whose errors a plain evaluation in float could be held against
  int sensitive = 0;                // inputs whose change was looked for in the output
  bool systemCall = false;          // a kernel tried one
  std::set<std::string> reasons;    // that failed anywhere
  std::map<std::string, std::string> details; // reason: where first
};

struct AccuracyResult {
  Accuracy accuracy;
  Observed observed;
  /// Why there was nothing to judge: the error of the first case that could not be prepared, if every one failed so.
  std::optional<Error> nothingTried;
};

/// The first output of `op`: the one that every kernel writes.
std::string mainOutput(const ops::Operator &op);

class AccuracyJudge {
public:
  AccuracyJudge(card::Session &session, Programs &programs, const ops::Operator &op, Candidate &candidate,
                const Bar &bar, uint64_t seed)
      : session(session), programs(programs), op(op), candidate(candidate), bar(bar), seed(seed), output(mainOutput(op)) {}

  Result<AccuracyResult> run(std::span<const ops::Case> cases, const Progress &progress);

  /// Judges what a run left, adding to `result`; true when it is right. Shared with the runs that are timed.
  static bool examine(const ops::Operator &op, const ops::Problem &problem, const Trace &trace, double limit,
                      CaseResult &result);
  static double limitOf(const ops::Problem &problem, const Bar &bar);

private:
  card::Session &session;
  Programs &programs;
  const ops::Operator &op;
  Candidate &candidate;
  const Bar &bar;
  uint64_t seed;
  std::string output; // mainOutput

  AccuracyResult result;
  std::vector<double> precisionRatios; // error over that of a plain evaluation, a case, where both are spread evenly
  int precisionCases = 0;
  std::string stopped;                 // why the remaining cases are not tried
  int crashes = 0;
  std::vector<CaseResult> overLimits;  // own cases that were not launched
  bool sensitivityDone = false;

  Status judgeCase(const ops::Case &c);
  bool launchable(const Step &step, const ops::Case &c, CaseResult &into);
  Status runThrice(const ops::Case &c, const Build &build, CaseResult &into);
  Result<Trace> once(Trial &trial, const ops::Problem &problem, int run, CaseResult &into);
  Status sensitivity(Trial &trial, const ops::Case &c, const ops::Problem &problem, const Trace &before,
                     CaseResult &into);
  void notTried(const ops::Case &c, const std::string &why);
  void weighPrecision(const ops::Problem &problem, const Trace &trace);
  void concludePrecision();
  void concludeLimits();
  void record(CaseResult into);
};

} // namespace opsight::judge
