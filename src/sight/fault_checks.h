// What a watched run shows of a kernel's faults, as checks of a verdict.
#pragma once
#include "judge/verdict.h"
#include "sight/findings.h"

namespace opsight::sight {

/// out_of_bounds, misaligned, uninitialised, race and barrier, of a run of the case `caseName` that ended as `launched`
/// says and in which `found` was seen. A run that did not come to its end shows no absence of anything.
std::vector<judge::Check> faultChecks(const card::Launched &launched, std::span<const Finding> found,
                                      const std::string &caseName);
/// The same checks where nothing could be watched.
std::vector<judge::Check> faultChecksNotMade(const std::string &why);

} // namespace opsight::sight
