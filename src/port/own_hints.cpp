#include "port/own_hints.h"
#include "port/advice.h"
#include "port/hint.h"
#include <algorithm>

namespace opsight::port {

namespace {

/// The hints that address a finding of sight's.
std::vector<std::string> hintsOn(const std::string &kind) {
  if (kind == "uncoalesced")
    return {"kv=row-major"};
  if (kind == "bank_conflict")
    return {"kv=shared,row-major"};
  return {};
}

class Collected {
public:
  void add(const std::vector<std::string> &texts, const std::string &said, SourcePlace where) {
    for (const std::string &text : texts)
      if (Result<Hint> hint = parseHint(text, where)) {
        hint->said = said;
        if (std::ranges::none_of(
                hints, [&](const Hint &other) { return other.key == hint->key && other.value == hint->value; }))
          hints.push_back(std::move(*hint));
      }
  }
  std::vector<Hint> hints;
};

} // namespace

std::vector<Hint> hintsSeen(std::span<const sight::Findings> launches, const judge::Verdict *source) {
  Collected collected;
  if (source)
    for (const judge::CaseResult &result : source->accuracy.cases)
      if (!result.pass && result.where)
        collected.add(hintsAgainst(result.where->phase),
                      "seen: case '" + result.c.name + "' goes wrong in the phase '" + result.where->phase + "'", {});
  for (const sight::Findings &findings : launches)
    for (const sight::Finding &finding : findings.findings)
      if (!finding.isFault)
        collected.add(hintsOn(finding.kind),
                      "seen: " + finding.kind + " at " + std::filesystem::path(finding.where.file).filename().string() +
                          ":" + std::to_string(finding.where.line),
                      finding.where);
  return collected.hints;
}

} // namespace opsight::port
