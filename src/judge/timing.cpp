// Filling, poisoning and judging happen between the launches, outside of the seconds that the worker reports.
#include "judge/timing.h"
#include "judge/machine_load.h"
#include "judge/statistics.h"
#include "operator/random.h"
#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace opsight::judge {
namespace {

using Clock = std::chrono::steady_clock;
using End = card::Launched::End;

/// A measured peak drifts with the machine's other load; past this share of it a speed is no speed.
constexpr double peakTolerance = 1.25;
/// Seconds below which a worker's clock and its queue are most of what is measured.
constexpr double clockResolution = 1e-6;
constexpr int warmUps = 2;

/// Both sides' buffers: two places each, filled with ever different data.
struct Side {
  std::vector<Trial> places;
  std::vector<double> seconds;
  int runs = 0;
};

class Race {
public:
  Race(const ops::Operator &op, const ops::Case &c, const Bar &bar, uint64_t seed) : op(op), c(c), bar(bar), random(seed) {}

  Status prepare(card::Session &session, Programs &programs, const Build &candidate, const Build *reference, int sets);
  /// One launch of a side on random data at a random place. Seconds, or none when the run was wrong (told in `wrong`).
  Result<std::optional<double>> once(Side &side, double limitFactor);

  Side candidate, reference;
  CaseResult wrong;

private:
  const ops::Operator &op;
  const ops::Case &c;
  const Bar &bar;
  ops::Random random;
  std::vector<ops::Problem> problems;

  Status prepareSide(card::Session &session, Programs &programs, const Build &build, Side &side);
};

Status Race::prepareSide(card::Session &session, Programs &programs, const Build &build, Side &side) {
  for (int place = 0; place < 2; ++place) {
    auto trial = Trial::create(session, programs, op, c, build, problems.front());
    if (!trial)
      return std::unexpected(trial.error());
    side.places.push_back(std::move(*trial));
  }
  return {};
}

Status Race::prepare(card::Session &session, Programs &programs, const Build &candidateBuild,
                     const Build *referenceBuild, int sets) {
  for (int n = 0; n < sets; ++n) {
    auto problem = op.make(c, random.bits());
    if (!problem)
      return std::unexpected(problem.error());
    problems.push_back(std::move(*problem));
  }
  auto status = prepareSide(session, programs, candidateBuild, candidate);
  return status && referenceBuild ? prepareSide(session, programs, *referenceBuild, reference) : status;
}

Result<std::optional<double>> Race::once(Side &side, double limitFactor) {
  const ops::Problem &problem = problems[size_t(random.below(int64_t(problems.size())))];
  Trial &trial = side.places[size_t(random.below(int64_t(side.places.size())))];
  trial.fill(problem, poisonWord(random.bits(), side.runs));
  auto before = Clock::now();
  auto launched = trial.launch();
  if (!launched)
    return std::unexpected(launched.error());
  double wall = std::chrono::duration<double>(Clock::now() - before).count();
  double seconds = launched->seconds;
  ++side.runs;
  Trace trace = trial.collect(std::move(*launched));
  wrong = CaseResult{.c = c, .error = 0, .limit = limitFactor * AccuracyJudge::limitOf(problem, bar), .pass = true,
                     .reasons = {}, .where = {}, .detail = {}};
  wrong.c.name += fmt::format(" (timed run {})", side.runs);
  if (!AccuracyJudge::examine(op, problem, trace, wrong.limit, wrong))
    return std::optional<double>{};
  if (seconds > wall)
    return internalError(fmt::format("the worker reports {:.6f} s for a launch that took {:.6f} s in all", seconds, wall));
  return std::optional<double>{seconds};
}

double medianOf(const std::vector<double> &values) { return medianInterval(values).median; }

} // namespace

bool implausible(const ops::Work &work, double seconds, const card::Session::Peak &peak) {
  if (!(seconds >= clockResolution))
    return true;
  return peak.gflopsFp32 > 0 && work.leastFlops / seconds > peakTolerance * peak.gflopsFp32 * 1e9;
}

Result<TimedCase> timeCase(card::Session &session, Programs &programs, const ops::Operator &op, const ops::Case &c,
                           const Build &candidateBuild, const Opponent &opponent, const Bar &bar,
                           const card::Session::Peak &peak, uint64_t seed, const Progress &progress,
                           const TimingPlan &plan) {
  Race race(op, c, bar, seed);
  if (auto status = race.prepare(session, programs, candidateBuild, opponent.build, plan.dataSets); !status)
    return std::unexpected(status.error());
  TimedCase timed;
  timed.speed.c = c;
  std::vector<double> ratios;

  // True: go on. False: the candidate was wrong. The reference may be wrong by the same bar or by 1e-5, not more.
  double referenceFactor = std::max(1.0, 1e-5 / bar.maxError);
  auto step = [&](bool isCandidate, bool keep) -> Result<bool> {
    Side &side = isCandidate ? race.candidate : race.reference;
    auto seconds = race.once(side, isCandidate ? 1 : referenceFactor);
    if (!seconds)
      return std::unexpected(seconds.error());
    if (!*seconds) {
      if (isCandidate) {
        timed.wrong = race.wrong;
        return false;
      }
      return noVerdict(fmt::format("the reference {} is itself wrong in case '{}': {} (error {:.2g})", opponent.name,
                                   c.name, race.wrong.reasons.front(), race.wrong.error),
                       "choose another --reference");
    }
    if (isCandidate && side.runs == 1)
      timed.speed.firstSeconds = **seconds;
    if (keep)
      side.seconds.push_back(**seconds);
    return true;
  };
  auto pair = [&](int n, bool keep) -> Result<bool> {
    bool candidateFirst = n % 2 == 0; // whoever runs second finds the caches and the clock as the other left them
    for (bool isCandidate : {candidateFirst, !candidateFirst}) {
      if (!isCandidate && !opponent.build)
        continue;
      if (auto went = step(isCandidate, keep); !went || !*went)
        return went;
    }
    return true;
  };

  for (int n = 0; n < warmUps; ++n)
    if (auto went = pair(n, false); !went || !*went)
      return went ? Result<TimedCase>(std::move(timed)) : std::unexpected(went.error());
  auto start = Clock::now();
  MachineLoad load(session);
  Interval interval;
  for (int n = 0; n < plan.mostPairs; ++n) {
    if (auto went = pair(n, true); !went || !*went)
      return went ? Result<TimedCase>(std::move(timed)) : std::unexpected(went.error());
    double theirs = opponent.build ? race.reference.seconds.back() : opponent.recordedSeconds;
    ratios.push_back(theirs / race.candidate.seconds.back());
    interval = medianInterval(ratios);
    double spent = std::chrono::duration<double>(Clock::now() - start).count();
    bool straddles = interval.low < bar.minSpeed && bar.minSpeed <= interval.high;
    bool narrow = n + 1 >= plan.fewestPairs && interval.high - interval.low <= plan.narrowEnough * interval.median;
    progress.step(fmt::format("timing {}: {} pairs, ratio {:.2f}", c.name, n + 1, interval.median),
                  std::min(1.0, spent / plan.seconds));
    if (n + 1 >= fewestForInterval && ((narrow && !straddles) || spent > plan.seconds * (straddles ? 2 : 1)))
      break;
  }
  SpeedCase &speed = timed.speed;
  speed.othersShare = load.othersShare();
  speed.ratio = interval.median, speed.low = interval.low, speed.high = interval.high;
  speed.candidateSeconds = medianOf(race.candidate.seconds);
  speed.referenceSeconds = opponent.build ? medianOf(race.reference.seconds) : opponent.recordedSeconds;
  speed.pairs = int(ratios.size());
  ops::Work work = op.work(c);
  speed.gflops = work.flops / speed.candidateSeconds / 1e9;
  speed.fractionOfPeak = peak.gflopsFp32 > 0 ? speed.gflops / peak.gflopsFp32 : 0;
  speed.implausible = implausible(work, speed.candidateSeconds, peak) ||
                      (opponent.build && implausible(work, speed.referenceSeconds, peak));
  return timed;
}

} // namespace opsight::judge
