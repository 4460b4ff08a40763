#include "port/see.h"
#include "port/staged_case.h"
#include "sight/eyes.h"
#include <fmt/format.h>

namespace opsight::port {

namespace {

constexpr const char *embeddedCard = "cpu";
constexpr double watchedSeconds = 120; // that a launch may take, unless told: it is slower by two orders under watch

/// Sight compares with nothing, so nobody has to know the right outputs.
class NoAnswer final : public ops::Oracle {
public:
  Result<std::map<std::string, ops::Tensor>> outputs(const ops::Case &, const ops::Problem &) override {
    return std::map<std::string, ops::Tensor>();
  }
};

bool isAtFault(const sight::Findings &findings) {
  return std::ranges::any_of(findings.findings, &sight::Finding::isFault);
}

class See {
public:
  See(Request request, Plan &plan) : request(std::move(request)), plan(plan) {}
  Result<std::vector<sight::Findings>> run(const Overrides &overrides, const std::string &card);

private:
  Status read(Overrides overrides, const std::string &card);
  Status chooseCards(Overrides &overrides, const std::string &card);
  Status look();
  Status openDevice();
  Status watch();
  Status watchTails();
  Result<sight::Findings> watchStep(StagedCase &stage, size_t number);
  Status describe(sight::Seen &seen, const ops::Case &c, const judge::Step &step);

  Request request;
  Plan &plan;
  std::vector<std::string> notes;
  card::Profile profile; // to assess on
  std::unique_ptr<card::Session> session;
  std::unique_ptr<SourceCandidate> source;
  std::vector<WatchChoice> choices; // the best first
  uint64_t seed = 1;                // the same unless told, so that two sights of one kernel can be compared
  double timeoutSeconds = watchedSeconds;
  std::vector<sight::Findings> results;
};

/// Only the embedded card can be watched; a port file may name another one to run on, or a profile to assess on.
Status See::chooseCards(Overrides &overrides, const std::string &card) {
  std::string assessed = card;
  overrides.card = embeddedCard;
  if (Result<card::Profile> named = card::findProfile(request.card.empty() ? embeddedCard : request.card)) {
    if (assessed.empty() && !named->canRun())
      assessed = named->name;
    if (named->driver == embeddedCard)
      overrides.card = named->name;
    if (named->canRun() && named->driver != embeddedCard)
      notes.push_back("watched on the card cpu: " + named->name + " cannot be watched");
  }
  Result<card::Profile> found = card::findProfile(assessed.empty() ? defaultProfile : assessed);
  if (!found)
    return std::unexpected(found.error());
  profile = std::move(*found);
  return {};
}

Status See::read(Overrides overrides, const std::string &card) {
  plan.start(Task::Read, "the request and " + request.source.string());
  if (Status chosen = chooseCards(overrides, card); !chosen)
    return chosen;
  if (Status settled = settle(request, overrides, notes); !settled)
    return settled;
  timeoutSeconds = overrides.timeoutSeconds.value_or(watchedSeconds);
  seed = request.seed.value_or(1);
  if (request.declared)
    request.declared->answerWith(std::make_shared<NoAnswer>());
  plan.done("to be assessed on " + profile.name);
  return {};
}

/// The kernel is read before the device is asked for, so that bad CUDA is told as such on any machine.
Status See::look() {
  source = std::make_unique<SourceCandidate>(*request.op, faithful(request), CardTarget{});
  plan.start(Task::See, source->source().kernel.empty() ? "the kernel" : source->source().kernel);
  Result<std::vector<WatchChoice>> cases = watchChoices(request, *source);
  if (!cases)
    return std::unexpected(cases.error());
  choices = std::move(*cases);
  Result<std::shared_ptr<const cuda::Module>> module = source->moduleFor(choices.front().c);
  if (!module)
    return std::unexpected(module.error());
  if (auto bound = boundTo(*request.op, (*module)->kernel, request.arguments, request.options); !bound)
    return std::unexpected(bound.error());
  return {};
}

Status See::openDevice() {
  card::Limits limits;
  limits.runTimeout = std::chrono::milliseconds(static_cast<int64_t>(timeoutSeconds * 1000));
  Result<std::unique_ptr<card::Session>> opened = card::Session::open(request.card, limits);
  if (!opened)
    return std::unexpected(opened.error());
  session = std::move(*opened);
  Result<card::Profile> runs = card::findProfile(request.card);
  if (!runs)
    return std::unexpected(runs.error());
  source = std::make_unique<SourceCandidate>(source->underWatch({*runs, session->info()}));
  return {};
}

static std::vector<sight::DeclaredArray> arraysOf(const cuda::Facts &facts) {
  std::vector<sight::DeclaredArray> arrays;
  for (const cuda::Fact &fact : facts.all)
    if (fact.kind == cuda::Fact::Kind::SharedArray)
      if (std::optional<sight::DeclaredArray> array = sight::DeclaredArray::parse(fact.what, fact.bytes))
        arrays.push_back(std::move(*array));
  return arrays;
}

/// What is known of the step's kernel before it runs.
Status See::describe(sight::Seen &seen, const ops::Case &c, const judge::Step &step) {
  const std::string &name = step.artifact->manifest.kernel;
  Result<std::shared_ptr<const cuda::Module>> module = source->moduleOf(name, c);
  if (!module)
    return std::unexpected(module.error());
  const cuda::Kernel &kernel = (*module)->kernel;
  seen.kernel = kernel.name, seen.caseName = c.name, seen.where = kernel.facts.where;
  seen.launch = step.launch, seen.staticSharedBytes = step.artifact->manifest.staticSharedBytes;
  seen.objects = step.artifact->watch->objects, seen.arrays = arraysOf(kernel.facts);
  const std::optional<double> capability = profile.figure("compute_capability");
  if (!capability) {
    seen.registersWhy = "no tool here compiles CUDA for " + profile.name;
    return {};
  }
  Result<std::map<std::string, std::string>> defines = source->definesOf(source->symbolsOf(c));
  if (!defines)
    return std::unexpected(defines.error());
  const Result<sight::Registers> told =
      sight::askPtxas({request.source, kernel.name, kernel.symbol, *defines, fmt::format("sm_{:.0f}", *capability)});
  if (told)
    seen.registers = *told;
  else
    seen.registersWhy = told.error().what;
  return {};
}

/// One launch: what was seen of it, and how it ended.
Result<sight::Findings> See::watchStep(StagedCase &stage, size_t number) {
  const judge::Step &step = *stage.build.steps()[number];
  plan.progress("watching " + step.artifact->manifest.kernel, double(number) / double(stage.build.steps().size()));
  sight::Seen seen;
  if (!step.artifact->watch)
    return internalError("the code of '" + step.artifact->manifest.kernel + "' says nothing of what it publishes");
  if (Status described = describe(seen, stage.chosen.c, step); !described)
    return std::unexpected(described.error());
  sight::Eyes eyes(profile, stage.memory);
  const Result<card::Launched> ended = stage.trial->launchStep(number, eyes.all());
  if (!ended)
    return std::unexpected(ended.error());
  const bool refused = ended->end == card::Launched::End::Refused;
  if (!refused)
    eyes.tell(seen, *ended);
  sight::Findings findings = sight::assess(seen, profile);
  findings.notes.insert(findings.notes.begin(), notes.begin(), notes.end());
  if (refused && !isAtFault(findings))
    return unsupported("the card " + request.card + " refuses the launch: " + ended->detail, {}, seen.where);
  if (refused)
    findings.notes.push_back("not watched, since the card " + request.card +
                             " refuses the launch, too: " + ended->detail);
  else if (ended->end != card::Launched::End::Done)
    findings.notes.push_back("the launch ended early: counts are of what ran until then");
  return findings;
}

Status See::watch() {
  Result<StagedCase> stage = StagedCase::of(*session, *request.op, *source, choices, seed);
  if (!stage)
    return std::unexpected(stage.error());
  plan.note(stage->chosen.c.name + ": " + stage->chosen.why);
  for (size_t number = 0; number < stage->build.steps().size(); ++number) {
    Result<sight::Findings> findings = watchStep(*stage, number);
    if (!findings)
      return std::unexpected(findings.error());
    results.push_back(std::move(*findings));
    if (isAtFault(results.back()))
      break;
  }
  if (results.size() < stage->build.steps().size())
    results.back().notes.push_back("the launches that follow were not watched: this one is at fault");
  if (stage->chosen.isOwn && stage->chosen.isWhole && !isAtFault(results.back()))
    if (Status tails = watchTails(); !tails)
      return tails;
  size_t count = 0;
  for (const sight::Findings &findings : results)
    count += findings.findings.size();
  plan.done(fmt::format("{} finding{}", count, count == 1 ? "" : "s"));
  return {};
}

/// Whole blocks say what a kernel costs, the ends of odd sizes whether it strays: of the latter only faults are told.
Status See::watchTails() {
  std::vector<WatchChoice> odd;
  std::ranges::copy_if(choices, std::back_inserter(odd),
                       [](const WatchChoice &choice) { return choice.isOwn && !choice.isWhole; });
  Result<StagedCase> stage = StagedCase::of(*session, *request.op, *source, odd, seed);
  if (!stage)
    return stage.error().kind == ErrorKind::User ? Status() : std::unexpected(stage.error());
  plan.note(stage->chosen.c.name + ": for faults alone, since its last blocks are not full");
  for (size_t number = 0; number < stage->build.steps().size(); ++number) {
    Result<sight::Findings> findings = watchStep(*stage, number);
    if (!findings)
      return std::unexpected(findings.error());
    std::vector<sight::Finding> &all = results[number].findings;
    auto last = all.begin();
    for (sight::Finding &fault : findings->findings)
      if (fault.isFault) {
        fault.said["case"] = stage->chosen.c.name;
        last = all.insert(last, std::move(fault)) + 1;
      }
    if (isAtFault(*findings))
      break;
  }
  return {};
}

Result<std::vector<sight::Findings>> See::run(const Overrides &overrides, const std::string &card) {
  Status done = read(overrides, card);
  for (Status (See::*task)() : {&See::look, &See::openDevice, &See::watch})
    if (done)
      done = (this->*task)();
  if (done)
    return std::move(results);
  plan.failed(done.error());
  return std::unexpected(done.error());
}

} // namespace

Result<std::vector<sight::Findings>> see(Request request, const Overrides &overrides, const std::string &card,
                                         Plan &plan) {
  return See(std::move(request), plan).run(overrides, card);
}

} // namespace opsight::port
