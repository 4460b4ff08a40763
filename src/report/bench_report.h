// A search as its figures: every candidate beside the reference, the fastest first, with the spread of each.
#pragma once
#include "report/terminal.h"

namespace opsight::report {

/// One line a candidate, with a bar of its speed.
std::string benchText(const port::Outcome &outcome, const TerminalStyle &style);
/// schema opsight.bench/1.
std::string benchJson(const port::Outcome &outcome);
/// The same bars with the 95 % interval of each, as a picture.
std::string benchSvg(const port::Outcome &outcome);

} // namespace opsight::report
