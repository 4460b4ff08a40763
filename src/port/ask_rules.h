// The demands and reasons that Opsight knows, as one table over the concepts of a clause (lexicon.h).
#pragma once
#include "port/ask.h"
#include "port/lexicon.h"
#include <span>

namespace opsight::port {

/// The tokens of one clause and what is needed to act on them.
struct Clause {
  std::span<const Token> tokens;
  std::string said;
  SourcePlace where;
  const Token *find(Concept what) const;
};

/// A rule takes a clause when the clause has every concept of `needs`, one of `anyOf` (if any are listed), nothing
/// outside these and `may`, and holds the pairs of `ordered` in that order.
struct Rule {
  std::vector<Concept> needs, anyOf, may;
  std::vector<std::pair<Concept, Concept>> ordered;
  /// What it means, with the demand written into `asked`; an error when the demand cannot be (a bar of 0).
  Result<std::string> (*apply)(const Clause &clause, Asked &asked);
  Understood::As as = Understood::As::Demand;
  /// For follow-ups such as "then speed": whether what was said before gives them a meaning. Null: always.
  bool (*context)(const Asked &asked) = nullptr;
};

const Rule *matchRule(std::span<const Token> tokens, const Asked &asked);

} // namespace opsight::port
