// The order of judgement: the candidate's accuracy, the reference's own accuracy, then speed side by side.
#include "judge/judge.h"
#include "judge/accuracy.h"
#include "judge/checks.h"
#include "judge/timing.h"
#include "operator/random.h"
#include <algorithm>
#include <fmt/format.h>

namespace opsight::judge {
namespace {

struct Bench {
  card::Session &session;
  const ops::Operator &op;
  const Bar &bar;
  uint64_t seed;
  const Progress &progress;
  Programs programs{session};
  card::Session::Peak peak{};
};

/// The largest share of the processors that others had while a case was timed.
double busiest(const Speed &speed) {
  double most = 0;
  for (const SpeedCase &c : speed.cases)
    most = std::max(most, c.othersShare.value_or(0));
  return most;
}
/// Past this share a kernel may be called slow for what others did.
constexpr double mostOthers = 0.2;

/// Speed is asked of the slowest case; an interval that holds the bar is no answer.
Status concludeSpeed(Speed &speed, Verdict &verdict) {
  if (speed.cases.empty())
    return noVerdict("speed was not measured: " + speed.notMeasured, "give a case within the kernel's limits");
  for (const SpeedCase &c : speed.cases)
    if (c.implausible)
      return noVerdict(fmt::format("case '{}': {:.3g} s for the candidate and {:.3g} s for the reference cannot be true on "
                                   "this machine",
                                   c.c.name, c.candidateSeconds, c.referenceSeconds),
                       "measure a larger case, or look at what the kernel really computes");
  const SpeedCase &slowest = *std::ranges::min_element(speed.cases, {}, &SpeedCase::low);
  speed.ratio = slowest.ratio, speed.low = slowest.low, speed.high = slowest.high;
  speed.gflops = slowest.gflops, speed.fractionOfPeak = slowest.fractionOfPeak;
  speed.pass = slowest.low >= speed.limit;
  bool slow = std::ranges::any_of(speed.cases, [&](const SpeedCase &c) { return c.high < speed.limit; });
  double busy = busiest(speed);
  if (slow && busy > mostOthers)
    return noVerdict(fmt::format("others kept {:.0f} % of this machine's processors busy while speed was measured, and the "
                                 "ratio {:.2f} [{:.2f}, {:.2f}] below the bar {:.2f} may be theirs",
                                 100 * busy, slowest.ratio, slowest.low, slowest.high, speed.limit),
                     "run again on a quieter machine");
  if (slow)
    verdict.reasons.push_back("slow");
  else if (!speed.pass)
    return noVerdict(fmt::format("too noisy to decide: the ratio {:.3f} has the interval {:.3f} to {:.3f}, which holds the "
                                 "bar {:.3f}, after {} pairs",
                                 slowest.ratio, slowest.low, slowest.high, speed.limit, slowest.pairs),
                     "run again on a quieter machine");
  return {};
}

/// The build of `who` for a speed case, or why there is none.
Result<std::variant<Build, OutsideLimits>> buildFor(const Bench &bench, Candidate &who, const ops::Case &c) {
  auto prepared = who.prepare(c);
  if (!prepared)
    return prepared;
  if (auto *build = std::get_if<Build>(&*prepared))
    if (auto why = Trial::outside(bench.op, c, *build))
      return OutsideLimits{*why};
  return prepared;
}

/// The reference in one case: a build, or seconds recorded elsewhere.
struct Rival {
  std::optional<Build> build;
  double recordedSeconds = 0;
  Opponent view(const Candidate &who) const { return {who.name(), build ? &*build : nullptr, recordedSeconds}; }
};

Result<std::variant<Rival, OutsideLimits>> opponentFor(const Bench &bench, Candidate &reference, const ops::Case &c) {
  if (std::optional<double> seconds = reference.recordedSeconds(c))
    return Rival{std::nullopt, *seconds};
  auto prepared = buildFor(bench, reference, c);
  if (!prepared)
    return std::unexpected(prepared.error());
  if (auto *outside = std::get_if<OutsideLimits>(&*prepared))
    return *outside;
  return Rival{std::get<Build>(std::move(*prepared)), 0};
}

Status timeCases(Bench &bench, Candidate &candidate, Candidate &reference, std::span<const ops::Case> cases,
                 Speed &speed, Verdict &verdict) {
  for (const ops::Case &c : cases) {
    auto mine = buildFor(bench, candidate, c);
    auto theirs = opponentFor(bench, reference, c);
    if (!mine)
      return std::unexpected(mine.error());
    if (!theirs)
      return std::unexpected(theirs.error());
    if (auto *outside = std::get_if<OutsideLimits>(&*mine)) {
      speed.notMeasured = "case '" + c.name + "' is outside the kernel's limits: " + outside->why;
      continue;
    }
    if (auto *outside = std::get_if<OutsideLimits>(&*theirs)) {
      speed.notMeasured = "case '" + c.name + "' is outside the reference's limits: " + outside->why;
      continue;
    }
    auto timed = timeCase(bench.session, bench.programs, bench.op, c, std::get<Build>(*mine), std::get<Rival>(*theirs).view(reference),
                          bench.bar, bench.peak, ops::mix(bench.seed ^ c.seed), bench.progress);
    if (!timed)
      return std::unexpected(timed.error());
    if (timed->wrong) {
      verdict.accuracy.pass = false;
      verdict.reasons.insert(verdict.reasons.end(), timed->wrong->reasons.begin(), timed->wrong->reasons.end());
      std::string how = timed->wrong->c.name + ": " + timed->wrong->detail;
      for (Check &check : verdict.checks) // what passed while accuracy was judged may fail on a larger case
        if (std::ranges::find(timed->wrong->reasons, check.name) != timed->wrong->reasons.end())
          check = {check.name, false, how};
      verdict.checks.push_back({"timed_runs", false, how});
      verdict.accuracy.cases.push_back(std::move(*timed->wrong));
      speed.notMeasured = "a run that was timed was wrong";
      return {};
    }
    speed.cases.push_back(std::move(timed->speed));
  }
  verdict.checks.push_back({"timed_runs", !speed.cases.empty() ? std::optional(true) : std::nullopt,
                            "the output of every timed run was compared with the reference in double precision"});
  return concludeSpeed(speed, verdict);
}

/// A reference that is wrong is no bar (pitfalls 15).
Status judgeReference(Bench &bench, Candidate &reference, std::span<const ops::Case> cases) {
  auto seen = AccuracyJudge(bench.session, bench.programs, bench.op, reference, bench.bar, bench.seed)
                  .run(cases, bench.progress);
  if (!seen)
    return std::unexpected(seen.error());
  if (seen->accuracy.pass)
    return {};
  for (const auto &[reason, where] : seen->observed.details)
    return noVerdict("the reference '" + reference.name() + "' is itself wrong (" + reason + " in " + where + ")",
                     "repair it, or choose another --reference");
  std::string why = seen->nothingTried ? ": " + seen->nothingTried->what
                    : seen->accuracy.notTried.empty() ? "" : ": " + seen->accuracy.notTried.front().why;
  return noVerdict("the reference '" + reference.name() + "' could not be tried on any case" + why,
                   "choose another --reference");
}

/// What was seen by other means stays; a failure is one whoever saw it.
void addCheck(Verdict &verdict, Check check) {
  if (check.pass == false)
    verdict.reasons.push_back(check.name);
  auto known = std::ranges::find(verdict.checks, check.name, &Check::name);
  if (known == verdict.checks.end()) {
    verdict.checks.push_back(std::move(check));
    return;
  }
  if (!check.pass && known->pass)
    return;
  bool both = known->pass && known->pass == check.pass;
  if (both || (known->pass == false && check.pass == true))
    known->detail += "; " + check.detail;
  else
    *known = std::move(check);
}

} // namespace

Result<Verdict> judge(card::Session &session, const ops::Operator &op, Candidate &candidate, Candidate *reference,
                      std::span<const ops::Case> cases, std::span<const ops::Case> speedCases, const Bar &bar,
                      uint64_t seed, const Progress &progress, const Further &further) {
  Bench bench{session, op, bar, seed, progress};
  Verdict verdict;
  verdict.operatorName = op.name();
  verdict.candidate = candidate.name();
  verdict.proposer = candidate.proposer();
  verdict.parameters = candidate.parameters();

  auto seen = AccuracyJudge(session, bench.programs, op, candidate, bar, seed).run(cases, progress);
  if (!seen)
    return std::unexpected(seen.error());
  if (seen->accuracy.cases.empty()) {
    if (seen->nothingTried)
      return std::unexpected(*seen->nothingTried);
    return noVerdict("no case is within the kernel's limits" +
                         (seen->accuracy.notTried.empty() ? "" : ": " + seen->accuracy.notTried.front().why),
                     "give a case that it takes with --case, or widen [limits]");
  }
  verdict.accuracy = seen->accuracy;
  verdict.checks = checksOf(*seen, session.info());
  verdict.reasons.assign(seen->observed.reasons.begin(), seen->observed.reasons.end());
  verdict.device = session.info();
  if (further) {
    auto checks = further(verdict.accuracy);
    if (!checks)
      return std::unexpected(checks.error());
    for (Check &check : *checks)
      addCheck(verdict, std::move(check));
  }
  bool sound = verdict.accuracy.pass && verdict.reasons.empty();

  if (!bar.accuracyOnly && reference) {
    Speed &speed = verdict.speed.emplace();
    speed.limit = bar.minSpeed;
    bool versionKnown = reference->proposer() == "vendor" && !session.info().vendorLibrary.empty();
    speed.reference = versionKnown ? session.info().vendorLibrary : reference->name();
    if (!sound) {
      speed.notMeasured = verdict.accuracy.pass ? "a check failed; a faulty kernel is not timed" : "accuracy failed; a wrong kernel is not timed";
    } else {
      auto peak = session.measurePeak();
      if (!peak)
        return std::unexpected(peak.error());
      bench.peak = *peak;
      verdict.peakGflops = peak->gflopsFp32;
      // What was recorded elsewhere cannot run here, and so cannot be judged.
      if (reference->proposer() != "vendor" && reference->proposer() != "recorded")
        if (auto status = judgeReference(bench, *reference, cases); !status)
          return std::unexpected(status.error());
      if (auto status = timeCases(bench, candidate, *reference, speedCases, speed, verdict); !status)
        return std::unexpected(status.error());
    }
  }
  std::ranges::sort(verdict.reasons);
  verdict.reasons.erase(std::unique(verdict.reasons.begin(), verdict.reasons.end()), verdict.reasons.end());
  verdict.pass = verdict.accuracy.pass && verdict.reasons.empty() && (!verdict.speed || verdict.speed->pass);
  return verdict;
}

} // namespace opsight::judge
