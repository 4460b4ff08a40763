// See watched_case.h.
#include "sight/watched_case.h"
#include "judge/trial.h"
#include "sight/memory_observer.h"
#include "sight/place_names.h"
#include "sight/race_observer.h"
#include <algorithm>
#include <fmt/format.h>

namespace opsight::sight {

using End = card::Launched::End;

/// Operations of a case that is watched in a fraction of a second, even where every operation loads its operands.
constexpr double watchableWork = 6e6;

constexpr const char *kinds[] = {"out_of_bounds", "misaligned", "uninitialised", "race", "barrier"};

Result<WatchedCase> watchCase(card::Session &session, const ops::Operator &op, judge::Candidate &candidate,
                              const ops::Case &c, uint64_t seed, std::span<card::Observer *const> more) {
  auto prepared = candidate.prepare(c);
  if (!prepared)
    return std::unexpected(prepared.error());
  if (auto *outside = std::get_if<judge::OutsideLimits>(&*prepared))
    return userError("case '" + c.name + "': " + outside->why);
  auto problem = op.make(c, seed);
  if (!problem)
    return std::unexpected(problem.error());
  judge::Programs programs(session);
  auto trial = judge::Trial::create(session, programs, op, c, std::get<judge::Build>(*prepared), *problem);
  if (!trial)
    return std::unexpected(trial.error());
  trial->fill(*problem, judge::poisonWord(seed, 0));
  MemoryObserver memory;
  RaceObserver race;
  std::vector<card::Observer *> observers{&memory, &race};
  observers.insert(observers.end(), more.begin(), more.end());
  auto launched = trial->launch(observers);
  if (!launched)
    return std::unexpected(launched.error());
  WatchedCase seen{std::move(*launched), memory.findings()};
  for (Finding &finding : race.findings())
    seen.faults.push_back(std::move(finding));
  return seen;
}

static double workOf(const ops::Operator &op, const ops::Case &c) {
  ops::Work work = op.work(c);
  return work.flops + work.bytes;
}

std::optional<ops::Case> caseToWatch(const ops::Operator &op, const judge::Accuracy &judged) {
  const judge::CaseResult *chosen = nullptr;
  auto rank = [&](const judge::CaseResult &result) {
    double work = workOf(op, result.c);
    bool fits = work <= watchableWork;
    return std::tuple(fits, fits && !result.pass, fits ? work : -work);
  };
  for (const judge::CaseResult &result : judged.cases)
    if (!chosen || rank(result) > rank(*chosen))
      chosen = &result;
  return chosen ? std::optional(chosen->c) : std::nullopt;
}

static judge::Check failed(const char *kind, const WatchedCase &seen, const std::string &caseName) {
  judge::Check check{kind, true, "no such fault under watch on the cpu card (case '" + caseName + "')"};
  std::vector<std::string> faults, benign;
  for (const Finding &finding : seen.faults)
    if (finding.kind == kind)
      (finding.isFault ? faults : benign).push_back(lineName(finding.where) + ": " + finding.what);
  if (std::string_view(kind) == "barrier" && seen.launched.end == End::Barrier)
    faults.push_back(seen.launched.detail);
  check.pass = faults.empty();
  if (!faults.empty())
    check.detail = fmt::format("{}{} (case '{}', watched on the cpu card)", faults[0],
                               faults.size() > 1 ? fmt::format("; {} more lines", faults.size() - 1) : "", caseName);
  else if (!benign.empty())
    check.detail = "benign: " + benign[0];
  return check;
}

std::vector<judge::Check> checksOf(const WatchedCase &seen, const std::string &caseName) {
  std::vector<judge::Check> checks;
  // A run that did not come to its end has shown no absence of anything.
  bool whole = seen.launched.end == End::Done || seen.launched.end == End::Assert;
  for (const char *kind : kinds) {
    judge::Check check = failed(kind, seen, caseName);
    if (check.pass == true && !whole)
      check = {kind, std::nullopt, "the watched run did not come to its end"};
    checks.push_back(std::move(check));
  }
  return checks;
}

std::vector<judge::Check> checksNotMade(const std::string &why) {
  std::vector<judge::Check> checks;
  for (const char *kind : kinds)
    checks.push_back({kind, std::nullopt, why});
  return checks;
}

} // namespace opsight::sight
