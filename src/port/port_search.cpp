// What a port proposes, and how the best of it is found.
#include "port/contains.h"
#include "port/port_run.h"
#include "port/source_variants.h"
#include "port/tuning_key.h"
#include <cmath>

namespace opsight::port {

/// Recipes alone under hints that shape the kernel, else the source and a recipe beside it.
Status Port::proposeKernels() {
  proposals = {proposeSource(outcome.request, ground())};
  if (verb == Verb::Verify)
    return {};
  Result<Proposal> recipe = proposeRecipe(outcome.request, ground());
  if (recipe)
    proposals.insert(isShaped() ? proposals.begin() : proposals.end(), std::move(*recipe));
  else if (isShaped() || recipe.error().kind != ErrorKind::Unsupported)
    return std::unexpected(recipe.error());
  if (isShaped())
    return {}; // the source is none of the candidates
  Result<std::shared_ptr<const cuda::Module>> module = source->moduleFor(sample);
  if (!module)
    return std::unexpected(module.error());
  std::ranges::move(proposeVariants(outcome.request, **module), std::back_inserter(proposals));
  return {};
}

/// The winner of an earlier search of this request, if there was one.
bool Port::proposeRecorded() {
  record = std::make_unique<TuningRecord>(tuningFile(),
                                          tuningKey(outcome.request, speedCases, outcome.profile, session->info()));
  if (outcome.request.retune)
    record->forget();
  if (verb == Verb::Port)
    recorded = record->winner();
  if (recorded && recorded->seconds > 0 && outcome.request.tuneSeconds > recorded->seconds) {
    plan.note("an earlier search left candidates unmeasured after " + std::to_string(std::lround(recorded->seconds)) +
              " seconds; it goes on");
    recorded.reset();
  }
  for (const Proposal &proposal : proposals)
    if (recorded && proposal.name == recorded->candidate) {
      add(proposal, recorded->values);
      plan.note("from the record of " + recorded->day + ": " + proposal.name + "; --retune searches anew");
      return true;
    }
  recorded.reset();
  return false;
}

Status Port::propose() {
  source->retarget(target());
  if (Status proposed = proposeKernels(); !proposed)
    return proposed;
  const bool tunes = verb != Verb::Verify && !bar.accuracyOnly;
  if (tunes && proposeRecorded())
    return {};
  proposeAll();
  return {};
}

void Port::proposeAll() {
  for (const Proposal &proposal : proposals)
    if (!proposal.isLate)
      add(proposal, proposal.first);
  if (verb != Verb::Verify && isShaped())
    entries.back().result.why = "the hints ask for another construction, and nothing shows that the source keeps them";
}

void Port::forgetRecorded() {
  record->forget();
  recorded.reset();
  entries.clear();
  proposeAll();
}

/// Cases that are run by the very builds that are timed: their macros have the same values.
Result<std::vector<ops::Case>> Port::casesOfTimedBuilds(const SourceCandidate &candidate) const {
  std::vector<std::map<std::string, std::string>> timed;
  for (const ops::Case &c : speedCases) {
    Result<std::map<std::string, std::string>> defines = candidate.definesOf(candidate.symbolsOf(c));
    if (!defines)
      return std::unexpected(defines.error());
    timed.push_back(std::move(*defines));
  }
  std::vector<ops::Case> some;
  for (const ops::Case &c : cases)
    if (Result<std::map<std::string, std::string>> defines = candidate.definesOf(candidate.symbolsOf(c));
        defines && contains(timed, *defines))
      some.push_back(c);
  return some;
}

/// What is timed is judged right first; what wins is judged in every case before the verdict.
Status Port::screen(Entry &entry, double from, double to) {
  Result<std::vector<ops::Case>> some = casesOfTimedBuilds(*entry.candidate);
  if (!some)
    return std::unexpected(some.error());
  Result<judge::Verdict> verdict = judged(entry, some->empty() ? cases : *some, {}, from, to);
  if (!verdict)
    return std::unexpected(verdict.error());
  entry.result.state = some->empty() ? "judged" : "screened";
  entry.result.why = some->empty() ? ""
                                   : std::to_string(some->size()) + " of " + std::to_string(cases.size()) +
                                         " cases, those of the build that is timed";
  entry.result.verdict = std::move(*verdict);
  return {};
}

/// The kernels that were right are searched, the winner's first; then what the hints cost is told.
Status Port::tune(Tuner &tuner) {
  if (auto first = std::ranges::find(proposals, winner->result.name, &Proposal::name); first != proposals.end())
    std::rotate(proposals.begin(), first, first + 1);
  for (const Proposal &proposal : proposals) {
    if (!isRight(proposal.isLate ? "faithful" : proposal.name))
      continue;
    if (Status searched = tuner.search(proposal, entries); !searched)
      return searched;
  }
  for (winner = best(); !winner->isSettled(); winner = best())
    if (Status judged = judgeOne(*winner, 0, 1); !judged)
      return judged;
  auto of = std::ranges::find(proposals, winner->result.name, &Proposal::name);
  Result<std::vector<std::string>> costs = tuner.costsOfHints(*of, outcome.request.hints, *winner, ground(), entries);
  if (!costs)
    return std::unexpected(costs.error());
  record->settle({winner->result.name, winner->values, *costs, tuner.unmeasured() ? outcome.request.tuneSeconds : 0.0});
  outcome.notes.insert(outcome.notes.end(), costs->begin(), costs->end());
  return {};
}

/// What hints and source leave free is searched, one measured candidate at a time; each is judged
/// right in its build before it is timed, and the best of them as strictly as the first.
Status Port::improve() {
  if (recorded)
    outcome.notes.insert(outcome.notes.end(), recorded->notes.begin(), recorded->notes.end());
  const bool worth = verb != Verb::Verify && !bar.accuracyOnly && winner->result.verdict->accuracy.pass && !recorded;
  if (!worth)
    return {};
  size_t count = 0, leftOut = 0;
  for (const Proposal &proposal : proposals)
    count += proposal.others.size(), leftOut += proposal.leftOut;
  plan.start(Task::Improve, std::to_string(count) + " candidates of what is left free" +
                                (leftOut ? ", " + std::to_string(leftOut) + " more ruled out by model and card" : ""));
  Tuner tuner(plan, *record,
              {[&](SourceKernel kernel) { return made(std::move(kernel)); },
               [&](Entry &entry, double from, double to) { return screen(entry, from, to); }},
              std::chrono::duration<double>(outcome.request.tuneSeconds));
  if (Status tuned = tune(tuner); !tuned)
    return tuned;
  if (tuner.unmeasured())
    plan.note(std::to_string(tuner.unmeasured()) +
              " candidates were left unmeasured: the time is over; --tune-seconds gives more");
  if (!record->problem().empty())
    outcome.notes.push_back("the search is not kept: " + record->problem());
  const std::string parameters = parametersText(winner->result.parameters);
  plan.done(winner->result.name + (parameters.empty() ? "" : " with " + parameters) + " is the fastest");
  return {};
}

/// Right before fast: a pass beats a fail, a right one a wrong one, then the faster wins.
Entry *Port::best() {
  auto rank = [&](const Entry &entry) {
    const bool passes =
        entry.result.verdict ? entry.result.verdict->pass : entry.isRight() && entry.ratio() >= bar.minSpeed;
    return std::tuple(passes, entry.isRight(), entry.ratio());
  };
  Entry *found = nullptr;
  for (Entry &entry : entries)
    if ((entry.result.verdict || entry.result.recorded) && !entry.besideHints && (!found || rank(entry) > rank(*found)))
      found = &entry;
  return found;
}

} // namespace opsight::port
