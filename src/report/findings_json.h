// findings.json, "opsight.findings/1": the first launch's findings, and under "then" those of the launches that follow
// it.
#pragma once
#include "sight/findings.h"

namespace opsight::report {

std::string findingsJson(std::span<const sight::Findings> launches);

/// "load", "store", "atomic", …; "global", "shared", "local".
std::string_view nameOf(card::Site::Kind kind);
std::string_view nameOf(card::Space space);

} // namespace opsight::report
