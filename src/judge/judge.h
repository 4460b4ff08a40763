// The verdict: accuracy against double precision first, then speed against a reference, side by side in one worker.
#pragma once
#include "judge/candidate.h"
#include "judge/verdict.h"
#include <functional>

namespace opsight::judge {

struct Bar {
  double maxError = 1e-5;
  double minSpeed = 0.70;
  bool accuracyOnly = false;
  double illConditionedFactor = 4; // times the error of a plain fp32 evaluation
};

struct Progress {
  /// "case 12/47 peaked L=1023", fraction 0…1. Called from the judging thread.
  std::function<void(const std::string &what, double fraction)> step = [](auto &, auto) {};
};

/// Looks further at a candidate whose accuracy was judged, before it is timed: checks that need no figures. Each replaces
/// or completes the check of its name; one that fails is a reason.
using Further = std::function<Result<std::vector<Check>>(const Accuracy &)>;

/// Judges `candidate` on every case. With `reference` null or bar.accuracyOnly no speed is measured. A reference whose
/// proposer is not "vendor" is judged for accuracy itself before its time counts. `speedCases` are where speed is measured.
/// An Error is only what prevents any verdict (no device, too much noise, our own fault); everything the kernel does
/// wrong is in the verdict.
Result<Verdict> judge(card::Session &session, const ops::Operator &op, Candidate &candidate, Candidate *reference,
                      std::span<const ops::Case> cases, std::span<const ops::Case> speedCases, const Bar &bar,
                      uint64_t seed, const Progress &progress, const Further &further = {});

/// The vendor's function for `op` on the session's processor (oneDNN), or none.
std::unique_ptr<Candidate> vendorReference(const ops::Operator &op);

/// The metric: |got − want| / max(magnitude, |want|); infinity when exactly one is not finite, or when they differ in being
/// NaN. The magnitude is 1 but for outputs of another scale (ops::Problem::magnitudes).
double elementError(double got, double want, double magnitude = 1);

} // namespace opsight::judge
