// How outcomes are shown: a table for people, JSON for programs.
#pragma once
#include "race.h"

namespace opsight::bench {

/// The row of columns' names, one row an outcome, and what ends the table.
std::string tableHead(const std::vector<Part> &parts);
std::string tableRow(const Outcome &outcome);
/// Geometric means of the ratios, over the workloads that both sides ran.
std::string tableEnd(const std::vector<Outcome> &outcomes);
/// Schema "opsight.bench.warp_machine/1"; seconds and rates as [median, low, high].
std::string json(const std::vector<Outcome> &outcomes, const std::string &machine);

} // namespace opsight::bench
