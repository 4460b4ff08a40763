// One candidate on one case of its operator, watched on the embedded card.
#pragma once
#include "judge/candidate.h"
#include "judge/verdict.h"
#include "sight/findings.h"

namespace opsight::sight {

/// How a watched run ended and what was wrong in it.
struct WatchedCase {
  card::Launched launched;
  std::vector<Finding> faults; // of memory, then races; benign ones too
};

/// `candidate` must have been lowered to be watched, and take `c`; `more` observers are told as well. An Error where
/// the case cannot be built or the session is unusable.
Result<WatchedCase> watchCase(card::Session &session, const ops::Operator &op, judge::Candidate &candidate,
                              const ops::Case &c, uint64_t seed, std::span<card::Observer *const> more = {});

/// The case to watch of those that were judged: small enough to be seen in well under a second, a failed one before
/// others, the largest of them, as it reaches the most code. None where nothing was tried.
std::optional<ops::Case> caseToWatch(const ops::Operator &op, const judge::Accuracy &judged);

/// What `seen` says, as checks of a verdict: out_of_bounds, misaligned, uninitialised, race, barrier.
std::vector<judge::Check> checksOf(const WatchedCase &seen, const std::string &caseName);
/// The same checks where nothing could be watched.
std::vector<judge::Check> checksNotMade(const std::string &why);

} // namespace opsight::sight
