// How a candidate's data pass through shared memory, as a watched run of it shows: evidence for hints that ask for more
// than the IR tells.
#pragma once
#include "judge/verdict.h"
#include "port/source_candidate.h"
#include "sight/accesses.h"

namespace opsight::port {

struct SharedTraffic {
  std::string caseName;
  std::vector<sight::SiteAccesses> shared; // taken and ideal: wavefronts, with 32 banks of 4 bytes
  std::vector<sight::SiteAccesses> global; // sectors of 32 bytes
};

/// Of the largest case judged right that is watched in a moment, on the embedded card. NoVerdict where there is none,
/// or the run did not end well.
Result<SharedTraffic> watchTraffic(const ops::Operator &op, const SourceCandidate &candidate,
                                   const judge::Accuracy &judged, const card::Limits &limits, uint64_t seed);

} // namespace opsight::port
