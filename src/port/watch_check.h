// What only those see who watch every access: a candidate's faults of memory, its races and barriers, on the embedded
// card whatever card it is made for.
#pragma once
#include "judge/judge.h"
#include "port/source_candidate.h"

namespace opsight::port {

class WatchCheck {
public:
  WatchCheck(const ops::Operator &op, const card::Limits &limits, uint64_t seed) : op(op), limits(limits), seed(seed) {}

  /// For judge::judge, of `candidate`, which outlives the result.
  judge::Further of(const SourceCandidate &candidate);

private:
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
