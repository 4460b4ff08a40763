// Hints that Opsight gives itself where the engineer gave none: what sight saw of the source and where its verdict went
// wrong, each as a constraint on what is proposed in its place. They are judged like an engineer's, but one that is not kept
// fails no port.
#pragma once
#include "judge/verdict.h"
#include "port/request.h"
#include "sight/findings.h"

namespace opsight::port {

/// `said` of each names what was seen and where: "seen: uncoalesced at naive.cu:33". Each key and value once.
std::vector<Hint> hintsSeen(std::span<const sight::Findings> launches, const judge::Verdict *source);

} // namespace opsight::port
