#include "port/own_hints.h"
#include "port/hint.h"
#include <algorithm>

namespace opsight::port {

namespace {

/// What addresses a finding's kind or the phase in which a case went wrong.
struct Remedy {
  const char *cause, *hint;
};
constexpr Remedy ofFindings[] = {
    {"uncoalesced", "kv=row-major"},
    {"bank_conflict", "kv=shared,row-major"},
};
constexpr Remedy ofPhases[] = {
    {"maximum", "softmax=online"},
    {"exponentials", "softmax=online"},
    {"sum", "softmax=max-before-sum"},
    {"accumulate", "softmax=max-before-sum"},
};

class Collected {
public:
  void add(std::span<const Remedy> table, const std::string &cause, const std::string &said, SourcePlace where) {
    for (const Remedy &remedy : table)
      if (Result<Hint> hint = parseHint(remedy.hint, where); remedy.cause == cause && hint) {
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
        collected.add(ofPhases, result.where->phase,
                      "seen: case '" + result.c.name + "' goes wrong in the phase '" + result.where->phase + "'", {});
  for (const sight::Findings &findings : launches)
    for (const sight::Finding &finding : findings.findings)
      if (!finding.isFault)
        collected.add(ofFindings, finding.kind,
                      "seen: " + finding.kind + " at " + std::filesystem::path(finding.where.file).filename().string() +
                          ":" + std::to_string(finding.where.line),
                      finding.where);
  return collected.hints;
}

} // namespace opsight::port
