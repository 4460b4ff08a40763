// Lists for `opsight cards` and `opsight ops`.
#pragma once
#include "card/profile.h"
#include "card/session.h"
#include "operator/operator.h"

namespace opsight::report {

struct CardEntry {
  card::Profile profile;
  std::optional<card::DeviceInfo> device;
  std::optional<card::Session::Peak> peak;
  std::string absent; // why there is no device
};

std::string cardsText(const std::vector<CardEntry> &entries, size_t columns);
std::string cardsJson(const std::vector<CardEntry> &entries);

std::string operatorsText(const std::vector<const ops::Operator *> &operators, size_t columns);
std::string operatorsJson(const std::vector<const ops::Operator *> &operators);

} // namespace opsight::report
