// `opsight see`: the user's kernel run once on a small problem, watched, and assessed on a card's profile. Nothing is
// judged.
#pragma once
#include "port/plan.h"
#include "port/settle.h"
#include "port/source_candidate.h"
#include "sight/findings.h"

namespace opsight::port {

/// One entry for each launch of the request, in order. `card` is the profile to assess on; empty: the request's card
/// where that is a profile only, else defaultProfile. An Error is what prevents sight; what a kernel does wrong is
/// among the findings.
Result<std::vector<sight::Findings>> see(Request request, const Overrides &overrides, const std::string &card,
                                         Plan &plan);

inline constexpr const char *defaultProfile = "a100";

/// A case that may be watched, and what it is.
struct WatchChoice {
  ops::Case c;
  std::string why;
  bool isOwn = false;   // the operator's, not the user's
  bool isWhole = false; // no thread of the last block is without work
};
/// Cases within [limits], the best to watch first: the user's own that are small enough in their order, then the
/// operator's: those that are watched in a moment, with no thread of the last block without work, of ordinary data, the
/// largest of them. Never empty.
Result<std::vector<WatchChoice>> watchChoices(const Request &request, const SourceCandidate &candidate);

} // namespace opsight::port
