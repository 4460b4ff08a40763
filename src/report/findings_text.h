// Findings as an engineer reads them on a terminal: the kernel's place on the card, what to change, then every line.
#pragma once
#include "report/terminal.h"
#include "sight/findings.h"

namespace opsight::report {

std::string findingsText(std::span<const sight::Findings> launches, const TerminalStyle &style);

/// `part` of `width` cells filled, "███░░░"; anything above nothing fills at least one.
std::string bar(double part, size_t width);

} // namespace opsight::report
