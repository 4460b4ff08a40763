// See watch_check.h.
#include "port/watch_check.h"
#include "sight/fault_checks.h"
#include "sight/race_observer.h"
#include <algorithm>
#include <tuple>

namespace opsight::port {

/// Operations of a case that is watched in a fraction of a second, even where every operation loads its operands.
constexpr double watchableWork = 6e6;

static double workOf(const ops::Operator &op, const ops::Case &c) {
  ops::Work work = op.work(c);
  return work.flops + work.bytes;
}

/// The case to watch of those that were judged: small enough to be seen in well under a second, a failed one before
/// others, the largest of them, as it reaches the most code. None where nothing was tried.
static std::optional<ops::Case> caseToWatch(const ops::Operator &op, const judge::Accuracy &judged) {
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

judge::Further WatchCheck::of(const SourceCandidate &candidate) {
  return [this, &candidate](const judge::Accuracy &judged) { return check(candidate, judged); };
}

Status WatchCheck::open() {
  if (session)
    return {};
  auto profile = card::findProfile("cpu");
  if (!profile)
    return std::unexpected(profile.error());
  auto opened = card::Session::open("cpu", limits);
  if (!opened)
    return std::unexpected(opened.error());
  session = std::move(*opened);
  target = CardTarget{std::move(*profile), session->info()};
  return {};
}

Result<StagedCase> WatchCheck::stage(SourceCandidate &watched, const ops::Case &c) {
  const WatchChoice choice{c, "judged"};
  return StagedCase::of(*session, op, watched, {&choice, 1}, seed);
}

Result<std::vector<judge::Check>> WatchCheck::check(const SourceCandidate &candidate, const judge::Accuracy &judged) {
  for (const judge::CaseResult &result : judged.cases)
    if (std::ranges::find(result.reasons, "hang") != result.reasons.end())
      return sight::faultChecksNotMade("not watched: the kernel did not end in case '" + result.c.name + "'");
  std::optional<ops::Case> c = caseToWatch(op, judged);
  if (!c)
    return sight::faultChecksNotMade("no case was tried");
  if (Status opened = open(); !opened)
    return std::unexpected(opened.error());
  auto unseen = checkedAlone(candidate, *c);
  if (!unseen || *unseen)
    return unseen ? Result<std::vector<judge::Check>>(std::move(**unseen)) : std::unexpected(unseen.error());
  return observed(candidate, *c);
}

/// What there is to say of a run in which the kernel checks itself; nothing where observers have to look.
Result<std::optional<std::vector<judge::Check>>> WatchCheck::checkedAlone(const SourceCandidate &candidate,
                                                                          const ops::Case &c) {
  SourceCandidate checked = candidate.underWatch(*target, lower::Watched::Checked);
  auto staged = stage(checked, c);
  if (!staged) {
    if (staged.error().kind == ErrorKind::Unsupported)
      return std::nullopt;
    return std::unexpected(staged.error());
  }
  auto launch = staged->trial->check();
  if (!launch) // perhaps there was no memory for it; what else it is the observed run says
    return std::nullopt;
  if (launch->launched.end == card::Launched::End::Hang)
    return sight::faultChecksNotMade("not watched: " + launch->launched.detail);
  if (!launch->isClean)
    return std::nullopt;
  return sight::faultChecks(launch->launched, {}, c.name);
}

Result<std::vector<judge::Check>> WatchCheck::observed(const SourceCandidate &candidate, const ops::Case &c) {
  SourceCandidate watched = candidate.underWatch(*target);
  auto staged = stage(watched, c);
  if (!staged && staged.error().kind == ErrorKind::Unsupported)
    return sight::faultChecksNotMade("the cpu card, which could watch it, does not run it: " + staged.error().what);
  if (!staged)
    return std::unexpected(staged.error());
  sight::RaceObserver race;
  card::Observer *observers[] = {&staged->memory, &race};
  auto launched = staged->trial->launch(observers);
  if (!launched)
    return std::unexpected(launched.error());
  if (launched->end == card::Launched::End::Hang || launched->end == card::Launched::End::Refused)
    return sight::faultChecksNotMade("not watched: " + launched->detail);
  std::vector<sight::Finding> found = staged->memory.findings();
  for (sight::Finding &finding : race.findings())
    found.push_back(std::move(finding));
  return sight::faultChecks(*launched, found, c.name);
}

} // namespace opsight::port
