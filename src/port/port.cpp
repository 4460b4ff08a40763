#include "port/port.h"
#include "base/text.h"
#include "judge/judge.h"
#include "port/account.h"
#include "port/advice.h"
#include "port/artifact_files.h"
#include "port/contains.h"
#include "port/declared_reference.h"
#include "port/evidence.h"
#include "port/figures.h"
#include "port/recipe.h"
#include "port/replay.h"
#include "port/tuner.h"
#include "port/tuning_key.h"
#include "port/watch_check.h"
#include <random>

namespace opsight::port {

namespace {

class Port {
public:
  Port(Verb verb, Request request, std::filesystem::path folder, Plan &plan)
      : verb(verb), plan(plan), folder(std::move(folder)) {
    outcome.request = std::move(request);
    outcome.verb = verb == Verb::Port ? "port" : "verify";
  }
  Result<Outcome> run(const Overrides &overrides);

private:
  Status read(const Overrides &overrides);
  Status openDevice();
  Status see();
  Status chooseSample();
  Status propose();
  Status translate();
  Status chooseReference();
  Status readRecorded();
  Status judgeOne(Entry &entry, double from, double to);
  Status verify();
  Status improve();
  Status conclude();
  Status judgeHints();
  Entry *best();

  Status proposeKernels();
  bool proposeRecorded();
  Status tune(Tuner &tuner);
  std::unique_ptr<SourceCandidate> made(SourceKernel kernel) const {
    return std::make_unique<SourceCandidate>(*outcome.request.op, std::move(kernel), target());
  }
  void add(const Proposal &proposal, const Symbols &values) {
    entries.emplace_back(made(proposal.kernelWith(values)), values);
  }
  TuningGround ground() const { return {outcome.profile, source->symbolsOf(sample)}; }
  CardTarget target() const { return {outcome.profile, session ? session->info() : card::DeviceInfo{}}; }
  bool isShaped() const { return std::ranges::any_of(outcome.request.hints, shapesKernel); }

  Verb verb;
  Plan &plan;
  std::filesystem::path folder; // where the results will lie
  Outcome outcome;
  judge::Bar bar;
  card::Limits limits;
  std::unique_ptr<card::Session> session;
  std::optional<WatchCheck> watch;
  std::vector<ops::Case> cases, speedCases;
  ops::Case sample; // the case that stands for the kernel where one is needed: the first speed case it takes
  std::unique_ptr<SourceCandidate> source; // the user's kernel, read before anything is proposed
  std::vector<Proposal> proposals;         // in the order of judgement
  std::deque<Entry> entries;
  std::unique_ptr<TuningRecord> record;
  std::optional<WinnerLine> recorded;      // of an earlier search of this request, where it is used again
  std::unique_ptr<judge::Candidate> reference;
  Entry *winner = nullptr;
};

Status Port::read(const Overrides &overrides) {
  plan.start(Task::Read, "the request and " + outcome.request.source.string());
  if (Status settled = settle(outcome.request, overrides, outcome.notes); !settled)
    return settled;
  const Request &request = outcome.request;
  bar.maxError = request.accept.maxError.value_or(defaultMaxError);
  bar.minSpeed = request.accept.minSpeed.value_or(defaultMinSpeed);
  bar.accuracyOnly = request.accept.accuracyOnly;
  outcome.seed = request.seed ? *request.seed : std::random_device{}();
  cases = request.op->cases(request.options);
  cases.insert(cases.end(), request.cases.begin(), request.cases.end());
  speedCases = request.cases;
  if (speedCases.empty())
    speedCases.push_back(request.op->speedCase(request.options));
  for (const Understood &part : request.understood)
    plan.note("\"" + part.said + "\": " + part.meaning);
  for (const std::string &note : outcome.notes)
    plan.note(note);
  plan.done(std::to_string(request.understood.size()) + " parts understood, " + std::to_string(cases.size()) + " cases");
  return {};
}

Status Port::openDevice() {
  limits.runTimeout = std::chrono::milliseconds(static_cast<int64_t>(outcome.request.timeoutSeconds * 1000));
  Result<std::unique_ptr<card::Session>> opened = card::Session::open(outcome.request.card, limits);
  if (!opened)
    return std::unexpected(opened.error());
  session = std::move(*opened);
  std::string name = session->info().card.empty() ? outcome.request.card : session->info().card;
  Result<card::Profile> profile = card::findProfile(name);
  if (!profile)
    return std::unexpected(profile.error());
  outcome.profile = *profile;
  return {};
}

/// The first case, of those that are timed first, that the source takes.
Status Port::chooseSample() {
  std::string why;
  for (std::span<const ops::Case> some : {std::span<const ops::Case>(speedCases), std::span<const ops::Case>(cases)})
    for (const ops::Case &c : some) {
      Result<std::optional<std::string>> outside = source->outsideLimits(c);
      if (!outside)
        return std::unexpected(outside.error());
      if (*outside) {
        why = **outside;
        continue;
      }
      sample = c;
      return {};
    }
  return userError("no case is within the kernel's limits (" + why + ")", "widen [limits], or add a [[case]] within them",
                   {outcome.request.file.string()});
}

/// The user's own kernel is read whoever will win: its errors and open questions are the user's to hear first.
Status Port::see() {
  plan.start(Task::See, outcome.request.kernel.empty() ? "the kernel" : outcome.request.kernel);
  source = std::make_unique<SourceCandidate>(*outcome.request.op, faithful(outcome.request), target());
  if (Status chosen = chooseSample(); !chosen)
    return chosen;
  Result<std::shared_ptr<const cuda::Module>> module = source->moduleFor(sample);
  if (!module)
    return std::unexpected(module.error());
  outcome.account = accountOf(**module);
  outcome.request.kernel = (*module)->kernel.name;
  if (auto bound = boundTo(*outcome.request.op, (*module)->kernel, outcome.request.arguments, outcome.request.options); !bound)
    return std::unexpected(bound.error());
  if (outcome.request.declared)
    if (Status named = nameReference(outcome.request, *source, sample, outcome.account); !named)
      return named;
  for (const auto &[subject, text] : outcome.account.lines)
    plan.note(subject + ": " + text);
  plan.done(outcome.account.kernel + " at " + outcome.account.where.file + ":" + std::to_string(outcome.account.where.line));
  return {};
}

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
  return {};
}

/// The winner of an earlier search of this request, if there was one.
bool Port::proposeRecorded() {
  record = std::make_unique<TuningRecord>(tuningFile(), tuningKey(outcome.request, speedCases, outcome.profile, session->info()));
  if (outcome.request.retune)
    record->forget();
  recorded = record->winner();
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
  const bool tunes = verb == Verb::Port && !bar.accuracyOnly;
  if (tunes && proposeRecorded())
    return {};
  for (const Proposal &proposal : proposals)
    add(proposal, proposal.first);
  if (verb == Verb::Port && isShaped())
    entries.back().result.why = "the hints ask for another construction, and nothing shows that the source keeps them";
  return {};
}

/// Whether the candidate can be built for the card at all. What only the card or Opsight cannot do is no error yet:
/// another candidate may.
Status Port::translate() {
  plan.start(Task::Translate, "to " + outcome.profile.ir + " for " + outcome.profile.name);
  if (Status proposed = propose(); !proposed)
    return proposed;
  std::optional<Error> refused;
  for (Entry &entry : entries) {
    if (!entry.isOpen())
      continue;
    auto built = entry.candidate->prepare(sample);
    if (built)
      continue;
    if (built.error().kind != ErrorKind::Unsupported)
      return std::unexpected(built.error());
    entry.result.state = "unsupported";
    entry.result.why = describe(built.error());
    plan.note(entry.result.name + ": " + built.error().what);
    refused = built.error();
  }
  std::vector<std::string> open;
  for (const Entry &entry : entries)
    if (entry.isOpen())
      open.push_back(entry.result.name);
  if (open.empty())
    return std::unexpected(*refused);
  plan.done(join(open, ", "));
  return {};
}

Status Port::chooseReference() {
  if (bar.accuracyOnly)
    return {};
  const auto &named = outcome.request.accept.reference;
  outcome.referenceName = named ? named->text : "vendor";
  if (outcome.referenceName == "source") {
    reference = std::make_unique<SourceCandidate>(*outcome.request.op, faithful(outcome.request), target());
    return {};
  }
  if (outcome.referenceName != "vendor")
    return readRecorded();
  reference = judge::vendorReference(*outcome.request.op);
  if (!reference)
    return noVerdict("no vendor library on this machine computes " + std::string(outcome.request.op->name()),
                     "compare with the source (--reference source), or judge accuracy alone (--accuracy-only)");
  return {};
}

Status Port::readRecorded() {
  const Placed &named = *outcome.request.accept.reference;
  Result<std::unique_ptr<RecordedReference>> recorded = readFigures(*outcome.request.op, named.text, named.where);
  if (!recorded)
    return std::unexpected(recorded.error());
  if (Status covered = (*recorded)->covers(speedCases); !covered)
    return covered;
  outcome.notes.push_back("speed is compared with recorded figures, not side by side: " + (*recorded)->name() + "; source: " +
                          (*recorded)->about().source);
  reference = std::move(*recorded);
  return {};
}

Status Port::judgeOne(Entry &entry, double from, double to) {
  judge::Progress progress;
  progress.step = [&](const std::string &what, double fraction) {
    plan.progress(entry.result.name + ": " + what, from + (to - from) * fraction);
  };
  Result<judge::Verdict> verdict = judge::judge(*session, *outcome.request.op, *entry.candidate, reference.get(), cases,
                                                speedCases, bar, outcome.seed, progress, watch->of(*entry.candidate));
  if (!verdict)
    return std::unexpected(verdict.error());
  entry.result.state = "judged";
  entry.result.verdict = std::move(*verdict);
  return {};
}

Status Port::verify() {
  plan.start(Task::Verify, std::to_string(cases.size()) + " cases on " + session->info().device);
  if (Status chosen = chooseReference(); !chosen)
    return chosen;
  watch.emplace(*outcome.request.op, limits, outcome.seed);
  size_t open = std::ranges::count_if(entries, &Entry::isOpen);
  size_t done = 0;
  for (Entry &entry : entries) {
    if (!entry.isOpen())
      continue;
    if (Status judged = judgeOne(entry, double(done) / open, double(done + 1) / open); !judged)
      return judged;
    ++done;
  }
  winner = best();
  plan.done(winner->result.name + (winner->result.verdict->accuracy.pass ? " is right" : " is wrong"));
  return {};
}

/// The kernels that were right are searched, the winner's first; then what the hints cost is told.
Status Port::tune(Tuner &tuner) {
  if (auto first = std::ranges::find(proposals, winner->result.name, &Proposal::name); first != proposals.end())
    std::rotate(proposals.begin(), first, first + 1);
  for (const Proposal &proposal : proposals) {
    const bool isRight = std::ranges::any_of(entries, [&](const Entry &entry) { return entry.result.name == proposal.name && entry.isRight(); });
    if (!isRight)
      continue;
    if (Status searched = tuner.search(proposal, entries); !searched)
      return searched;
  }
  for (winner = best(); !winner->result.verdict; winner = best())
    if (Status judged = judgeOne(*winner, 0, 1); !judged)
      return judged;
  auto of = std::ranges::find(proposals, winner->result.name, &Proposal::name);
  Result<std::vector<std::string>> costs = tuner.costsOfHints(*of, outcome.request.hints, *winner, ground(), entries);
  if (!costs)
    return std::unexpected(costs.error());
  record->settle({winner->result.name, winner->values, *costs});
  outcome.notes.insert(outcome.notes.end(), costs->begin(), costs->end());
  return {};
}

/// What hints and source leave free is searched, one measured candidate at a time; each is judged as strictly as the first.
Status Port::improve() {
  if (recorded)
    outcome.notes.insert(outcome.notes.end(), recorded->notes.begin(), recorded->notes.end());
  const bool worth = verb == Verb::Port && !bar.accuracyOnly && winner->result.verdict->accuracy.pass && !recorded;
  if (!worth)
    return {};
  size_t count = 0, leftOut = 0;
  for (const Proposal &proposal : proposals)
    count += proposal.others.size(), leftOut += proposal.leftOut;
  plan.start(Task::Improve, std::to_string(count) + " candidates of what is left free" +
                                (leftOut ? ", " + std::to_string(leftOut) + " more ruled out by model and card" : ""));
  Tuner tuner(plan, *record, {[&](SourceKernel kernel) { return made(std::move(kernel)); },
                              [&](Entry &entry, double from, double to) { return judgeOne(entry, from, to); }},
              std::chrono::duration<double>(outcome.request.tuneSeconds));
  if (Status tuned = tune(tuner); !tuned)
    return tuned;
  if (tuner.unmeasured())
    plan.note(std::to_string(tuner.unmeasured()) + " candidates were left unmeasured: the time is over; --tune-seconds gives more");
  if (!record->problem().empty())
    outcome.notes.push_back("the search is not kept: " + record->problem());
  std::vector<std::string> parameters;
  for (const auto &[name, value] : winner->result.parameters)
    parameters.push_back(name + " " + value);
  plan.done(winner->result.name + (parameters.empty() ? "" : " with " + join(parameters, ", ")) + " is the fastest");
  return {};
}

/// Right before fast: a pass beats a fail, a right one a wrong one, then the faster wins.
Entry *Port::best() {
  auto rank = [&](const Entry &entry) {
    const bool passes = entry.result.verdict ? entry.result.verdict->pass : entry.isRight() && entry.ratio() >= bar.minSpeed;
    return std::tuple(passes, entry.isRight(), entry.ratio());
  };
  Entry *found = nullptr;
  for (Entry &entry : entries)
    if ((entry.result.verdict || entry.result.recorded) && !entry.besideHints && (!found || rank(entry) > rank(*found)))
      found = &entry;
  return found;
}

Status Port::judgeHints() {
  const std::vector<Hint> &hints = outcome.request.hints;
  if (verb == Verb::Verify) {
    for (const Hint &hint : hints)
      outcome.hints.push_back({hint, std::nullopt, "hints guide `opsight port`; verify judges the kernel as it stands"});
    return {};
  }
  Result<std::vector<HintResult>> results = evidenceFor(hints, *winner->candidate, sample, outcome.verdict, [&] {
    return watch->traffic(*winner->candidate, outcome.verdict.accuracy);
  });
  if (!results)
    return std::unexpected(results.error());
  outcome.hints = std::move(*results);
  for (const HintResult &result : outcome.hints)
    if (result.kept == false) {
      outcome.verdict.pass = false;
      if (!contains(outcome.verdict.reasons, std::string("hint_not_kept")))
        outcome.verdict.reasons.push_back("hint_not_kept");
    }
  return {};
}

Status Port::conclude() {
  plan.start(Task::Report, "the verdict");
  outcome.verdict = *winner->result.verdict;
  if (Status hints = judgeHints(); !hints)
    return hints;
  auto built = winner->candidate->prepare(sample);
  if (built && std::holds_alternative<judge::Build>(*built)) {
    const judge::Build &build = std::get<judge::Build>(*built);
    outcome.artifact = artifactFiles(build, *winner->candidate, winner->candidate->symbolsOf(sample));
    const std::vector<std::string> &notes = build.artifact->manifest.notes;
    outcome.notes.insert(outcome.notes.end(), notes.begin(), notes.end());
  }
  outcome.figures = figuresOf(outcome.verdict, winner->candidate->source().kernel, outcome.profile.name,
                              "opsight " + outcome.verb + " of " + outcome.request.source.filename().string());
  outcome.replay = replayCommand(outcome, winner->result, folder);
  for (Entry &entry : entries) {
    entry.result.files = candidateFiles(*entry.candidate, outcome.request, sample);
    outcome.candidates.push_back(entry.result);
  }
  outcome.advice = adviceFor(outcome);
  plan.done(outcome.verdict.pass ? "PASS" : "FAIL");
  return {};
}

Result<Outcome> Port::run(const Overrides &overrides) {
  auto begin = std::chrono::steady_clock::now();
  Status done = read(overrides);
  // The kernel is read before the device is asked for, so that bad CUDA is told as such on any machine.
  for (Status (Port::*task)() : {&Port::see, &Port::openDevice, &Port::translate, &Port::verify, &Port::improve,
                                 &Port::conclude})
    if (done)
      done = (this->*task)();
  if (!done) {
    plan.failed(done.error());
    return std::unexpected(done.error());
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return std::move(outcome);
}

} // namespace

Result<Outcome> carryOut(Verb verb, Request request, const Overrides &overrides, const std::filesystem::path &folder,
                         Plan &plan) {
  return Port(verb, std::move(request), folder, plan).run(overrides);
}

} // namespace opsight::port
