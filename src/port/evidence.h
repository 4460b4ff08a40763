// Whether hints were kept: evidence from the candidate that won, its compiled instance and its IR, never from intent.
#pragma once
#include "port/outcome.h"
#include "port/shared_traffic.h"
#include "port/source_candidate.h"

namespace opsight::port {

/// Judges each hint by what `candidate` runs on `c`. A hint with parts of which one does not apply to the mapping of
/// this card gives one result a part. `traffic` watches the candidate; it is asked only where a hint needs it.
Result<std::vector<HintResult>> evidenceFor(const std::vector<Hint> &hints, SourceCandidate &candidate,
                                            const ops::Case &c, const judge::Verdict &verdict,
                                            const std::function<Result<SharedTraffic>()> &traffic);

} // namespace opsight::port
