// The candidate always runs before anything that knows the answer does; what it left behind is then examined.
#include "judge/accuracy.h"
#include "card/launch_limits.h"
#include "operator/random.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace opsight::judge {
namespace {

using End = card::Launched::End;

struct EndRow {
  End end;
  const char *reason, *what;
};
constexpr EndRow ends[] = {
    {End::Crash, "crash", "the kernel crashed"},
    {End::Hang, "hang", "the kernel did not end"},
    {End::Refused, "limits", "the launch was refused"},
    {End::Assert, "crash", "an assert of the kernel failed"},
    {End::Barrier, "barrier", "threads did not meet at a barrier"},
    {End::Sandbox, "crash", "the kernel tried to call the system"},
};

void addReason(CaseResult &result, const std::string &reason, const std::string &detail) {
  result.pass = false;
  if (std::ranges::find(result.reasons, reason) == result.reasons.end())
    result.reasons.push_back(reason);
  if (!detail.empty())
    result.detail += (result.detail.empty() ? "" : "; ") + detail;
}

/// An element that holds the poison after a run was either never written, and then it holds the other poison after the
/// other run, or it was computed from what the buffer held (NaN keeps its payload). Adds the second run's findings.
void merge(CaseResult &first, const CaseResult &second) {
  auto unwritten = std::ranges::find(first.reasons, "unwritten");
  if (unwritten != first.reasons.end() && std::ranges::find(second.reasons, "unwritten") == second.reasons.end()) {
    *unwritten = "uninitialised";
    first.detail = "the output depends on what its buffer held before the run";
    if (first.where)
      first.where->phase = "accumulate", first.where->because = "a NaN that lay in the output before the run came back out of it";
  }
  bool told = !first.reasons.empty();
  for (const std::string &reason : second.reasons)
    addReason(first, reason, "");
  if (!told)
    first.detail = second.detail;
  if (!first.where)
    first.where = second.where;
  first.error = std::max(first.error, second.error);
}

/// The same crash need not be seen forty times, and each costs a new worker.
constexpr int enoughCrashes = 2;
/// A launch slower than this is not repeated once enough others were: what it would show, they have shown.
constexpr double slowLaunch = 1;
constexpr int enoughRepeats = 8;

/// An error this many times that of a plain evaluation, spread over the elements, means fewer mantissa bits (N08).
constexpr double precisionFactor = 64;
/// Up to this error (root mean square) it may still be precision; past it, it is something else.
constexpr double precisionCeiling = 0x1p-6;
/// A plain evaluation that is exact but for this says nothing of precision.
constexpr double precisionFloor = 5e-9;

std::string describeLaunch(const Step &step) {
  const card::LaunchConfig &launch = step.launch;
  auto extents = [](const card::Dim3 &d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); };
  return fmt::format("a launch of grid {}, block {} and {} bytes of dynamic shared memory", extents(launch.grid),
                     extents(launch.block), launch.dynamicSharedBytes);
}

bool hasEmptyOutput(const ops::Operator &op, const ops::Case &c) {
  auto info = std::ranges::find(op.tensors(), mainOutput(op), &ops::TensorInfo::name);
  auto extents = ops::extentsOf(*info, c.symbols);
  return extents && std::ranges::find(*extents, 0) != extents->end();
}

/// Two launches that add floats in any order need not agree to the last bit.
bool repeatsBitForBit(const Build &build) {
  return std::ranges::none_of(build.steps(), [](const Step *step) { return step->artifact->manifest.usesFloatAtomics; });
}

} // namespace

std::string mainOutput(const ops::Operator &op) {
  for (const ops::TensorInfo &info : op.tensors())
    if (info.isCompared())
      return info.name;
  return {};
}

/// An element never written needs no theory of the operator.
static ops::Diagnosis explain(const ops::Operator &op, const ops::Problem &problem, const Trace &trace,
                              const std::string &tensor, const Comparison &seen, const ops::Case &c) {
  if (seen.worstUnwritten)
    return {"indexing", fmt::format("{} of {} elements were never written; this is the first", seen.unwritten,
                                    trace.outputs.at(tensor).count())};
  return op.diagnose(c, problem, trace.outputs, tensor, seen.worst);
}

double AccuracyJudge::limitOf(const ops::Problem &problem, const Bar &bar) {
  return problem.wellConditioned() ? bar.maxError : std::max(bar.maxError, bar.illConditionedFactor * problem.plainError);
}

bool AccuracyJudge::examine(const ops::Operator &op, const ops::Problem &problem, const Trace &trace, double limit,
                            CaseResult &result) {
  size_t before = result.reasons.size();
  if (!trace.modifiedInput.empty())
    addReason(result, "input_modified", "the kernel changed its input " + trace.modifiedInput);
  if (!trace.scribble.empty())
    addReason(result, "out_of_bounds", "the kernel wrote outside " + trace.scribble);
  for (const EndRow &row : ends)
    if (row.end == trace.launched.end) {
      bool outside = trace.launched.outOfBounds;
      addReason(result, outside ? "out_of_bounds" : row.reason,
                std::string(row.what) + (trace.launched.detail.empty() ? "" : ": " + trace.launched.detail));
      result.error = std::numeric_limits<double>::infinity();
      return false;
    }
  for (const auto &[name, got] : trace.outputs) {
    const auto &want = problem.outputs.at(name);
    Comparison seen = compare(got, wantedOf(problem, name), trace.filled.contains(name) ? std::nullopt : std::optional(trace.poison));
    if (seen.unwritten)
      addReason(result, "unwritten", fmt::format("{} of {} elements of {} were never written", seen.unwritten,
                                                 want.size(), name));
    if (seen.notFinite)
      addReason(result, "nan", fmt::format("{} elements of {} are NaN or infinite and should not be", seen.notFinite, name));
    if (seen.constant)
      addReason(result, "constant", name + " is one value everywhere, and should not be");
    bool wrong = !(seen.error <= limit) || seen.unequal;
    if (wrong && !seen.unwritten && !seen.notFinite)
      addReason(result, "error", "");
    if (seen.worst >= 0 && (seen.error > result.error || (wrong && !result.where))) {
      result.where.reset();
      if (wrong) {
        ops::Diagnosis why = explain(op, problem, trace, name, seen, result.c);
        result.where = Where{name, indexOf(seen.worst, got.shape), got.valueAt(seen.worst), want[seen.worst],
                             why.phase, why.because};
      }
    }
    result.error = std::max(result.error, seen.error);
  }
  return result.reasons.size() == before;
}

void AccuracyJudge::notTried(const ops::Case &c, const std::string &why) {
  result.accuracy.notTried.push_back({c.name, why});
}

void AccuracyJudge::record(CaseResult into) {
  Accuracy &accuracy = result.accuracy;
  for (const std::string &reason : into.reasons) {
    result.observed.reasons.insert(reason);
    result.observed.details.try_emplace(reason, into.c.name + (into.detail.empty() ? "" : ": " + into.detail));
  }
  bool worse = into.wellConditioned && into.error > accuracy.maxError;
  if (worse || accuracy.worstCase.empty())
    accuracy.worstCase = into.c.name;
  if (worse)
    accuracy.maxError = into.error;
  accuracy.cases.push_back(std::move(into));
}

Result<Trace> AccuracyJudge::once(Trial &trial, const ops::Problem &problem, int run, CaseResult &into) {
  trial.fill(problem, poisonWord(seed ^ into.c.seed, run));
  trial.takeOrder(run % 2 ? ops::mix(seed ^ into.c.seed) | 1 : 0); // a race shows where the order changes who wins
  auto launched = trial.launch();
  if (!launched)
    return std::unexpected(launched.error());
  Trace trace = trial.collect(std::move(*launched));
  if (trace.launched.end == End::Done)
    ++result.observed.runs;
  result.observed.systemCall |= trace.launched.end == End::Sandbox;
  if (trace.launched.end == End::Hang)
    stopped = "the kernel hung in case '" + into.c.name + "'";
  if (trace.launched.end != End::Done && trace.launched.end != End::Refused && ++crashes >= enoughCrashes && stopped.empty())
    stopped = fmt::format("the kernel crashed {} times, last in case '{}'", crashes, into.c.name);
  return trace;
}

Status AccuracyJudge::sensitivity(Trial &trial, const ops::Case &c, const ops::Problem &problem, const Trace &before,
                                  CaseResult &into) {
  auto other = op.make(c, ops::mix(seed ^ ops::mix(c.seed) ^ 0x5E45)); // data of its own, used one tensor at a time
  if (!other)
    return std::unexpected(other.error());
  for (const auto &[name, tensor] : problem.inputs) {
    auto info = std::ranges::find(op.tensors(), name, &ops::TensorInfo::name);
    if (!trial.receives(name) || info->role == ops::TensorInfo::Role::Output) // what is added to need not matter elsewhere
      continue;
    trial.fill(problem, before.poison);
    trial.replace(name, *other);
    auto launched = trial.launch();
    if (!launched)
      return std::unexpected(launched.error());
    Trace after = trial.collect(std::move(*launched));
    if (after.launched.end != End::Done)
      return {};
    ++result.observed.sensitive;
    if (after.outputs.at(output).bytes == before.outputs.at(output).bytes)
      addReason(into, "constant", "the output does not depend on " + name);
  }
  return {};
}

void AccuracyJudge::weighPrecision(const ops::Problem &problem, const Trace &trace) {
  if (!problem.wellConditioned() || problem.plainRms < precisionFloor || !trace.outputs.contains(output))
    return;
  ++precisionCases, ++result.observed.weighed;
  Comparison seen = compare(trace.outputs.at(output), wantedOf(problem, output), trace.poison, 8 * problem.plainRms);
  if (seen.unwritten || seen.notFinite || seen.spread < 0.5 || seen.rms > precisionCeiling)
    return;
  precisionRatios.push_back(seen.rms / problem.plainRms);
}

void AccuracyJudge::concludePrecision() {
  if (precisionCases == 0 || 2 * int(precisionRatios.size()) < precisionCases)
    return;
  std::ranges::nth_element(precisionRatios, precisionRatios.begin() + int64_t(precisionRatios.size() / 2));
  double median = precisionRatios[precisionRatios.size() / 2];
  if (median < precisionFactor)
    return;
  result.observed.reasons.insert("precision");
  result.observed.details["precision"] =
      fmt::format("errors are {:.0f} times those of a plain float evaluation, spread evenly, in {} of {} cases: about "
                  "{:.0f} bits of mantissa where float has 24",
                  median, precisionRatios.size(), precisionCases, std::max(1.0, 24 - std::log2(median)));
}

Status AccuracyJudge::runThrice(const ops::Case &c, const Build &build, CaseResult &into) {
  auto problem = op.make(c, ops::mix(seed ^ ops::mix(c.seed)));
  if (!problem)
    return std::unexpected(problem.error());
  into.limit = limitOf(*problem, bar);
  into.wellConditioned = problem->wellConditioned();
  auto first = Trial::create(session, programs, op, c, build, *problem);
  if (!first)
    return std::unexpected(first.error());
  auto one = once(*first, *problem, 0, into);
  if (!one)
    return std::unexpected(one.error());
  weighPrecision(*problem, *one);
  if (!examine(op, *problem, *one, into.limit, into) && one->launched.end != End::Done)
    return {};

  if (one->launched.seconds > slowLaunch && result.observed.repeated >= enoughRepeats)
    return {};
  // The first trial's buffers live on, so these lie elsewhere.
  auto second = Trial::create(session, programs, op, c, build, *problem);
  if (!second)
    return std::unexpected(second.error());
  auto two = once(*second, *problem, 1, into);
  if (!two)
    return std::unexpected(two.error());
  CaseResult again{.c = c, .error = 0, .limit = into.limit, .pass = true, .reasons = {}, .where = {}, .detail = {}};
  bool right = examine(op, *problem, *two, into.limit, again);
  merge(into, again);
  if (two->launched.end != End::Done)
    return {};
  if (repeatsBitForBit(build)) {
    ++result.observed.repeated;
    for (const auto &[name, tensor] : one->outputs)
      if (tensor.bytes != two->outputs.at(name).bytes && into.reasons.empty())
        addReason(into, "not_repeatable", "two runs on the same data differ in " + name);
  }
  if (!right || !into.reasons.empty())
    return {};

  auto fresh = op.make(c, ops::mix(seed ^ ops::mix(c.seed) ^ 0xF4E5));
  if (!fresh)
    return std::unexpected(fresh.error());
  auto three = once(*first, *fresh, 2, into);
  if (!three)
    return std::unexpected(three.error());
  double limit = limitOf(*fresh, bar);
  into.limit = std::max(into.limit, limit);
  into.wellConditioned = into.wellConditioned && fresh->wellConditioned();
  bool still = examine(op, *fresh, *three, limit, into);
  if (!still && three->outputs.contains(output) && three->outputs.at(output).bytes == one->outputs.at(output).bytes)
    addReason(into, "error", "the output is bit for bit that of an earlier run on other data: an answer was kept");
  bool telling = op.hearsEveryInput(c) && problem->wellConditioned();
  if (still && telling && !sensitivityDone) {
    sensitivityDone = true;
    return sensitivity(*second, c, *problem, *one, into);
  }
  return {};
}

/// Whether a step can be launched as it is; else what is wrong is recorded.
bool AccuracyJudge::launchable(const Step &step, const ops::Case &c, CaseResult &into) {
  into.error = std::numeric_limits<double>::infinity();
  const card::Dim3 &grid = step.launch.grid;
  if (grid.count() == 0 || step.launch.block.count() == 0) {
    addReason(into, "limits", fmt::format("the launch has no threads (grid {}x{}x{}), but the output has elements", grid.x,
                                          grid.y, grid.z));
    record(std::move(into));
    return false;
  }
  // The operator's own sizes are ours to choose, so one that this card cannot launch says nothing of the kernel.
  if (std::string over = card::overLimit(step.artifact->manifest, step.launch, session.info()); c.own && !over.empty()) {
    addReason(into, "limits", describeLaunch(step) + ": " + over);
    overLimits.push_back(std::move(into));
    return false;
  }
  into.error = 0;
  return true;
}

Status AccuracyJudge::judgeCase(const ops::Case &c) {
  auto prepared = candidate.prepare(c);
  if (!prepared) {
    if (prepared.error().kind != ErrorKind::Unsupported)
      return std::unexpected(prepared.error());
    if (!result.nothingTried)
      result.nothingTried = prepared.error();
    notTried(c, describe(prepared.error()));
    return {};
  }
  if (auto *outside = std::get_if<OutsideLimits>(&*prepared)) {
    notTried(c, outside->why);
    return {};
  }
  const Build &build = std::get<Build>(*prepared);
  if (auto why = Trial::outside(op, c, build)) {
    notTried(c, *why);
    return {};
  }
  CaseResult into;
  into.c = c;
  into.pass = true;
  if (hasEmptyOutput(op, c)) {
    notTried(c, "its output is empty, so there is nothing to launch");
    return {};
  }
  for (const Step *step : build.steps())
    if (!launchable(*step, c, into))
      return {};
  if (auto status = runThrice(c, build, into); !status) {
    if (status.error().kind != ErrorKind::Unsupported)
      return status;
    if (!result.nothingTried)
      result.nothingTried = status.error();
    notTried(c, describe(status.error()));
    return {};
  }
  record(std::move(into));
  return {};
}

/// Where no case could be launched at all, the launch itself is at fault.
void AccuracyJudge::concludeLimits() {
  bool none = result.accuracy.cases.empty();
  for (CaseResult &refused : overLimits)
    if (none)
      record(std::move(refused));
    else
      notTried(refused.c, refused.detail);
  overLimits.clear();
}

Result<AccuracyResult> AccuracyJudge::run(std::span<const ops::Case> cases, const Progress &progress) {
  result.accuracy.limit = bar.maxError;
  for (size_t n = 0; n < cases.size(); ++n) {
    progress.step(fmt::format("case {}/{} {}", n + 1, cases.size(), cases[n].name), double(n) / double(cases.size()));
    if (!stopped.empty()) {
      notTried(cases[n], stopped);
      continue;
    }
    if (auto status = judgeCase(cases[n]); !status)
      return std::unexpected(status.error());
  }
  concludePrecision();
  concludeLimits();
  Accuracy &accuracy = result.accuracy;
  accuracy.pass = !accuracy.cases.empty() && result.observed.reasons.empty() &&
                  std::ranges::all_of(accuracy.cases, [](const CaseResult &c) { return c.pass; });
  if (!accuracy.cases.empty())
    result.nothingTried.reset();
  return std::move(result);
}

} // namespace opsight::judge
