// The verdict as an engineer reads it on a terminal.
#pragma once
#include "port/outcome.h"

namespace opsight::report {

struct TerminalStyle {
  bool color = false;
  size_t columns = 100;
};

std::string terminalReport(const port::Outcome &outcome, const std::string &folder, const TerminalStyle &style);

} // namespace opsight::report
