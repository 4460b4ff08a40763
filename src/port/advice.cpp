#include "port/advice.h"
#include "port/contains.h"
#include <set>

namespace opsight::port {

namespace {

struct Remedy {
  std::string cause; // a phase of the operator, or a reason of the verdict
  std::string text, hint;
};

const std::vector<Remedy> &remedies() {
  static const std::string online =
      "a softmax that exponentiates without the row's maximum overflows on large scores; ask for the three-phase online one";
  static const std::vector<Remedy> table = {
      {"maximum", online, "softmax=online"},
      {"exponentials", online, "softmax=online"},
      {"sum", "the maximum and the sum are not updated together; ask for one order everywhere", "softmax=max-before-sum"},
      {"accumulate", "the output is not rescaled with the sum; ask for one order everywhere", "softmax=max-before-sum"},
      {"slow", "ask for tiles that fit the card", "tile=64x64"},
      {"slow", "ask for unrolled reductions", "reduce-stride=4"},
  };
  return table;
}

} // namespace

std::vector<std::string> hintsAgainst(const std::string &cause) {
  std::vector<std::string> hints;
  for (const Remedy &remedy : remedies())
    if (remedy.cause == cause)
      hints.push_back(remedy.hint);
  return hints;
}

std::vector<std::string> adviceFor(const Outcome &outcome) {
  std::vector<std::string> lines;
  if (outcome.verdict.pass)
    return lines;
  std::set<std::string> causes(outcome.verdict.reasons.begin(), outcome.verdict.reasons.end());
  for (const judge::CaseResult &result : outcome.verdict.accuracy.cases)
    if (!result.pass && result.where)
      causes.insert(result.where->phase);
  for (const Remedy &remedy : remedies()) {
    std::string key = remedy.hint.substr(0, remedy.hint.find('='));
    bool given = contains(outcome.request.hints, key, &Hint::key);
    std::string line = remedy.text + ": --hint " + remedy.hint;
    if (causes.contains(remedy.cause) && !given && !contains(lines, line))
      lines.push_back(std::move(line));
  }
  if (causes.contains("hang"))
    lines.push_back("a kernel that is slow rather than stuck needs more time: --timeout SECONDS");
  return lines;
}

} // namespace opsight::port
