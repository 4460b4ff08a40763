// The record of verdicts on this machine: one SQLite file in the user's state folder, from which `opsight ops` says how
// far an operator has been proved on which card. A home that cannot be written costs the record, never the verdict.
#pragma once
#include "port/outcome.h"

namespace opsight::port {

/// What all verdicts of one operator on one card amount to: the last PASS, and how many there were of each.
struct Proof {
  std::string card, device, candidate, options, day; // of the last PASS; empty where there was none
  int64_t cases = 0;                                 // that were right then
  double maxError = 0;
  std::optional<double> ratio;                       // none: judged for accuracy alone
  std::string reference;
  int64_t passes = 0, fails = 0;
};

/// $XDG_STATE_HOME/opsight/verdicts.sqlite, else under ~/.local/state; empty when neither is known.
std::filesystem::path verdictLogFile();

Status recordVerdict(const Outcome &outcome, const std::filesystem::path &file);

/// By card; nothing where no verdict was recorded yet.
Result<std::vector<Proof>> proofsOf(const std::string &operatorName, const std::filesystem::path &file);

} // namespace opsight::port
