// report.md: everything the verdict rests on, for reading and for passing on.
#pragma once
#include "port/outcome.h"

namespace opsight::report {

std::string markdownReport(const port::Outcome &outcome, const std::string &folder);

} // namespace opsight::report
