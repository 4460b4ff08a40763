// After a FAIL: which constraint addresses what went wrong, so that the second try can be given it.
#pragma once
#include "port/outcome.h"

namespace opsight::port {

/// The hints that address what went wrong in a phase of an operator; a reason of a verdict counts as one, too.
std::vector<std::string> hintsAgainst(const std::string &cause);

/// One line each, with the hint to give; empty after a PASS or where no hint helps.
std::vector<std::string> adviceFor(const Outcome &outcome);

} // namespace opsight::port
