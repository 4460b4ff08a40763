// Lists for `opsight cards` and `opsight ops`.
#pragma once
#include "card/profile.h"
#include "card/session.h"
#include "operator/operator.h"
#include "port/verdict_log.h"

namespace opsight::report {

struct CardEntry {
  card::Profile profile;
  std::optional<card::DeviceInfo> device;
  std::optional<card::Session::Peak> peak;
  std::string absent; // why there is no device
};

std::string cardsText(const std::vector<CardEntry> &entries, size_t columns);
std::string cardsJson(const std::vector<CardEntry> &entries);

struct OperatorEntry {
  const ops::Operator *op;
  std::vector<port::Proof> proofs; // from the verdicts recorded on this machine
};

std::string operatorsText(const std::vector<OperatorEntry> &entries, size_t columns);
std::string operatorsJson(const std::vector<OperatorEntry> &entries);

} // namespace opsight::report
