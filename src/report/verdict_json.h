// verdict.json, schema opsight.verdict/1 (interface.md): fields may be added, never removed.
#pragma once
#include "port/outcome.h"

namespace opsight::report {

/// Of the whole outcome, for verdict.json and --json. Infinity and NaN, which JSON has not, become null.
std::string verdictJson(const port::Outcome &outcome);

/// Of one candidate alone, for candidates/NAME/verdict.json.
std::string candidateJson(const port::Outcome &outcome, const port::CandidateResult &candidate);

} // namespace opsight::report
