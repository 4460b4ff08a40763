// What only those see who watch every access: a candidate's faults of memory, its races and barriers, on the embedded
// card whatever card it is made for.
#pragma once
#include "judge/judge.h"
#include "port/shared_traffic.h"
#include "port/staged_case.h"

namespace opsight::port {

class WatchCheck {
public:
  WatchCheck(const ops::Operator &op, const card::Limits &limits, uint64_t seed) : op(op), limits(limits), seed(seed) {}

  /// For judge::judge, of `candidate`, which outlives the result.
  judge::Further of(const SourceCandidate &candidate);
  /// Of the largest case judged right that is watched in a moment. NoVerdict where there is none, or the run did not end
  /// well.
  Result<SharedTraffic> traffic(const SourceCandidate &candidate, const judge::Accuracy &judged);

private:
  Status open();
  Result<StagedCase> stage(SourceCandidate &watched, const ops::Case &c);
  Result<std::vector<judge::Check>> check(const SourceCandidate &candidate, const judge::Accuracy &judged);
  Result<std::optional<std::vector<judge::Check>>> checkedAlone(const SourceCandidate &candidate, const ops::Case &c);
  Result<std::vector<judge::Check>> observed(const SourceCandidate &candidate, const ops::Case &c);

  const ops::Operator &op;
  card::Limits limits;
  uint64_t seed;
  std::unique_ptr<card::Session> session; // of the embedded card, once it is needed
  std::optional<CardTarget> target;
};

} // namespace opsight::port
