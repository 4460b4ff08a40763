// The judge's results, as reports and verdict.json show them (interface.md, "verdict.json").
#pragma once
#include "card/session.h"
#include "operator/operator.h"

namespace opsight::judge {

struct Where {
  std::string tensor;
  std::vector<int64_t> index;
  double got = 0, want = 0;
  std::string phase, because;
};

struct CaseResult {
  ops::Case c;
  double error = 0;        // largest over the outputs, by the metric; infinity for NaN
  double limit = 0;        // that was asked of this case
  bool pass = false;
  /// Measured on the very data: false where single precision, evaluated plainly, cannot hold the answer to 2e-6 either.
  /// Such a case is judged by `illConditionedFactor` times that evaluation's error and told apart (pitfalls 14).
  bool wellConditioned = true;
  std::vector<std::string> reasons; // from interface.md's list
  std::optional<Where> where;       // the worst element, where the case failed
  std::string detail;               // how a crash, a hang, a refusal looked
};

struct NotTried {
  std::string name, why;
};

struct Check {
  std::string name;          // "out_of_bounds", "race", …
  std::optional<bool> pass;  // none: this card cannot make it
  std::string detail;
};

struct Accuracy {
  bool pass = false;
  double maxError = 0;       // over well-conditioned cases
  double limit = 0;
  std::string worstCase;
  std::vector<CaseResult> cases;
  std::vector<NotTried> notTried;
};

struct SpeedCase {
  ops::Case c;
  double ratio = 0, low = 0, high = 0;           // reference time / candidate time: median of pairs, 95 % interval
  double candidateSeconds = 0, referenceSeconds = 0; // medians
  double firstSeconds = 0;                       // the candidate's first call, apart
  double gflops = 0, fractionOfPeak = 0;
  int pairs = 0;
  std::optional<double> othersShare{};           // of this machine's processors while it was timed; none: not known
  bool implausible = false;                      // faster than the machine's peak or the clock's resolution
};

struct Speed {
  bool pass = false;
  double limit = 0;
  std::string reference;     // "oneDNN 2.6"
  double ratio = 0, low = 0, high = 0, gflops = 0, fractionOfPeak = 0; // of the deciding case (the slowest ratio)
  std::vector<SpeedCase> cases;
  std::string notMeasured;   // why there is no figure, e.g. "accuracy failed; a wrong kernel is not timed"
};

struct Verdict {
  bool pass = false;
  std::vector<std::string> reasons; // from interface.md's list, each once
  std::string operatorName, candidate, proposer;
  std::map<std::string, std::string> parameters;
  card::DeviceInfo device;
  double peakGflops = 0;
  Accuracy accuracy;
  std::vector<Check> checks;
  std::optional<Speed> speed;       // none: --accuracy-only
};

} // namespace opsight::judge
