// The command that repeats a verdict, from the files that the run leaves.
#pragma once
#include "port/outcome.h"

namespace opsight::port {

/// `winner` is the candidate that the verdict is about; `folder` is where the results lie.
std::string replayCommand(const Outcome &outcome, const CandidateResult &winner, const std::filesystem::path &folder);

} // namespace opsight::port
