#include "base/text.h"
#include "port/account.h"
#include "port/advice.h"
#include "port/artifact_files.h"
#include "port/contains.h"
#include "port/declared_reference.h"
#include "port/evidence.h"
#include "port/figures.h"
#include "port/own_hints.h"
#include "port/port_run.h"
#include "port/replay.h"
#include "port/see.h"
#include <random>

namespace opsight::port {

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
  plan.done(std::to_string(request.understood.size()) + " parts understood, " + std::to_string(cases.size()) +
            " cases");
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
  return userError("no case is within the kernel's limits (" + why + ")",
                   "widen [limits], or add a [[case]] within them", {outcome.request.file.string()});
}

/// What sight finds becomes hints of our own where there are no others. What cannot be watched is said, and hinders nothing.
void Port::lookAtSource() {
  if (verb != Verb::Port || isShaped())
    return;
  Plan silent({}, {});
  Request watched = outcome.request;
  watched.asks.clear(); // understood already
  Result<std::vector<sight::Findings>> found = opsight::port::see(std::move(watched), {}, "", silent);
  if (!found) {
    plan.note("not watched: " + found.error().what);
    return;
  }
  seen = std::move(*found);
  for (const sight::Findings &findings : seen)
    for (const sight::Finding &finding : findings.findings)
      plan.note(std::filesystem::path(finding.where.file).filename().string() + ":" +
                std::to_string(finding.where.line) + ", on " + findings.card + ": " + finding.what);
}

/// The user's own kernel is read whoever will win: its errors and open questions are the user's to hear first.
Status Port::see() {
  source = std::make_unique<SourceCandidate>(*outcome.request.op, faithful(outcome.request), target());
  plan.start(Task::See, source->source().kernel.empty() ? "the kernel" : source->source().kernel);
  if (Status chosen = chooseSample(); !chosen)
    return chosen;
  Result<std::shared_ptr<const cuda::Module>> module = source->moduleFor(sample);
  if (!module)
    return std::unexpected(module.error());
  outcome.account = accountOf(**module);
  if (outcome.request.kernel.empty()) // else it may name parameters, whose values are yet to be chosen
    outcome.request.kernel = (*module)->kernel.name;
  if (auto bound = boundTo(*outcome.request.op, (*module)->kernel, outcome.request.arguments, outcome.request.options);
      !bound)
    return std::unexpected(bound.error());
  if (outcome.request.declared)
    if (Status named = nameReference(outcome.request, *source, sample, outcome.account); !named)
      return named;
  for (const auto &[subject, text] : outcome.account.lines)
    plan.note(subject + ": " + text);
  lookAtSource();
  plan.done(outcome.account.kernel + " at " + outcome.account.where.file + ":" +
            std::to_string(outcome.account.where.line));
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
  outcome.notes.push_back("speed is compared with recorded figures, not side by side: " + (*recorded)->name() +
                          "; source: " + (*recorded)->about().source);
  reference = std::move(*recorded);
  return {};
}

Result<judge::Verdict> Port::judged(Entry &entry, std::span<const ops::Case> on, const judge::Further &further,
                                    double from, double to) {
  judge::Progress progress;
  progress.step = [&](const std::string &what, double fraction) {
    plan.progress(entry.result.name + ": " + what, from + (to - from) * fraction);
  };
  return judge::judge(*session, *outcome.request.op, *entry.candidate, reference.get(), on, speedCases, bar,
                      outcome.seed, progress, further);
}

Status Port::judgeOne(Entry &entry, double from, double to) {
  Result<judge::Verdict> verdict = judged(entry, cases, watch->of(*entry.candidate), from, to);
  if (!verdict)
    return std::unexpected(verdict.error());
  entry.result.state = "judged";
  entry.result.why.clear();
  entry.result.verdict = std::move(*verdict);
  return {};
}

Status Port::verify() {
  plan.start(Task::Verify, std::to_string(cases.size()) + " cases on " + session->info().device);
  if (Status chosen = chooseReference(); !chosen)
    return chosen;
  watch.emplace(*outcome.request.op, limits, outcome.seed);
  if (Status judged = judgeOpen(); !judged)
    return judged;
  if (recorded && !winner->result.verdict->pass) {
    plan.note("what the record names does not pass any more: all is judged anew");
    forgetRecorded();
    if (Status judged = judgeOpen(); !judged)
      return judged;
  }
  plan.done(winner->result.name + (winner->result.verdict->accuracy.pass ? " is right" : " is wrong"));
  return {};
}

/// Every candidate that is not judged yet; the best of them wins for now.
Status Port::judgeOpen() {
  size_t open = std::ranges::count_if(entries, &Entry::isOpen);
  size_t done = 0;
  std::optional<Error> undecided; // the measurement was too noisy, or the machine too busy
  for (Entry &entry : entries) {
    if (!entry.isOpen())
      continue;
    Status judged = judgeOne(entry, double(done) / open, double(done + 1) / open);
    ++done;
    if (judged)
      continue;
    if (judged.error().kind != ErrorKind::NoVerdict)
      return judged;
    undecided = judged.error();
    entry.result.why = describe(judged.error());
    plan.note("no verdict on " + entry.result.name + ": " + judged.error().what);
  }
  winner = best();
  return winner ? Status() : std::unexpected(*undecided);
}

Result<std::vector<HintResult>> Port::evidenceOf(const std::vector<Hint> &hints) {
  return evidenceFor(hints, *winner->candidate, sample, outcome.verdict,
                     [&] { return watch->traffic(*winner->candidate, outcome.verdict.accuracy); });
}

Status Port::judgeHints() {
  const std::vector<Hint> &hints = outcome.request.hints;
  if (verb == Verb::Verify) {
    for (const Hint &hint : hints)
      outcome.hints.push_back(
          {hint, std::nullopt, "hints guide `opsight port`; verify judges the kernel as it stands"});
    return {};
  }
  Result<std::vector<HintResult>> results = evidenceOf(hints);
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

/// They constrain what was proposed in the source's place; where the source won, there is nothing to constrain.
Status Port::judgeOwnHints() {
  if (verb != Verb::Port || isShaped() || winner->result.proposer != "recipe")
    return {};
  auto source = std::ranges::find(entries, "faithful", [](const Entry &entry) { return entry.result.name; });
  const judge::Verdict *verdict =
      source != entries.end() && source->result.verdict ? &*source->result.verdict : nullptr;
  Result<std::vector<HintResult>> results = evidenceOf(hintsSeen(seen, verdict));
  if (!results)
    return std::unexpected(results.error());
  outcome.hints.insert(outcome.hints.end(), results->begin(), results->end());
  return {};
}

Status Port::conclude() {
  plan.start(Task::Report, "the verdict");
  outcome.verdict = *winner->result.verdict;
  if (Status hints = judgeHints(); !hints)
    return hints;
  if (Status own = judgeOwnHints(); !own)
    return own;
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
  for (Status (Port::*task)() :
       {&Port::see, &Port::openDevice, &Port::translate, &Port::verify, &Port::improve, &Port::conclude})
    if (done)
      done = (this->*task)();
  if (!done) {
    plan.failed(done.error());
    return std::unexpected(done.error());
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return std::move(outcome);
}

Result<Outcome> carryOut(Verb verb, Request request, const Overrides &overrides, const std::filesystem::path &folder,
                         Plan &plan) {
  return Port(verb, std::move(request), folder, plan).run(overrides);
}

} // namespace opsight::port
