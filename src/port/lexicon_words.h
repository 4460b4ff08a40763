// The tables behind lexicon.h: which phrases stand for which concept. A space in a phrase matches any run of spaces and
// hyphens, also none. The longest phrase wins, so "不低于" is never read as "低于".
#pragma once
#include "port/lexicon.h"
#include <span>

namespace opsight::port {

struct Words {
  Concept what;
  std::vector<std::string_view> phrases;
};

std::span<const Words> lexiconWords();

/// Concepts that side by side mean one: "avoid" + "bank conflict" is a reason, "not" + "naive" a demand.
struct Compound {
  std::vector<Concept> parts;
  Concept whole;
};
std::span<const Compound> compounds();

} // namespace opsight::port
