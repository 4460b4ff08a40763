#include "port/declared_reference.h"
#include "base/text.h"
#include "cuda/host_function.h"
#include "judge/metric.h"
#include "judge/trial.h"
#include "port/contains.h"
#include <fmt/format.h>
#include <set>

namespace opsight::port {

namespace {

constexpr const char *embeddedCard = "cpu";
constexpr uint32_t referencePoison = 0xFFC5A5A5; // NaN

std::unexpected<Error> at(const SourcePlace &where, Error error) {
  if (error.where.file.empty())
    error.where = where;
  return std::unexpected(std::move(error));
}

/// Runs builds in a worker of its own and refuses every answer that a candidate would fail with.
class WorkerOracle : public ops::Oracle {
public:
  WorkerOracle(std::string name, double timeoutSeconds) : name(std::move(name)) {
    limits.runTimeout = std::chrono::milliseconds(static_cast<int64_t>(timeoutSeconds * 1000));
  }

  Result<std::map<std::string, ops::Tensor>> outputs(const ops::Case &c, const ops::Problem &problem) override {
    if (!session) {
      auto opened = card::Session::open(embeddedCard, limits);
      if (!opened)
        return std::unexpected(opened.error());
      session = std::move(*opened);
      programs.emplace(*session);
    }
    Result<judge::Build> build = buildFor(c);
    if (!build)
      return std::unexpected(build.error());
    ops::Problem seen = asSeen(problem);
    auto trial = judge::Trial::create(*session, *programs, seenBy(), c, *build, seen);
    if (!trial)
      return std::unexpected(trial.error());
    trial->fill(seen, referencePoison);
    auto launched = trial->launch();
    if (!launched)
      return std::unexpected(launched.error());
    judge::Trace trace = trial->collect(std::move(*launched));
    if (std::string why = fault(trace); !why.empty())
      return noVerdict("the reference '" + name + "' is itself wrong in case '" + c.name + "': " + why, "repair it");
    return std::move(trace.outputs);
  }

protected:
  virtual Result<judge::Build> buildFor(const ops::Case &c) = 0;
  /// The declaration as the reference's own types have it, and the data in them.
  virtual const ops::Declared &seenBy() const = 0;
  virtual ops::Problem asSeen(const ops::Problem &problem) const { return problem; }
  std::unique_ptr<card::Session> session;

private:
  static std::string fault(const judge::Trace &trace) {
    using End = card::Launched::End;
    if (trace.launched.end != End::Done)
      return trace.launched.detail.empty() ? "it did not end well" : trace.launched.detail;
    if (!trace.scribble.empty())
      return "it wrote outside " + trace.scribble;
    if (!trace.modifiedInput.empty())
      return "it changed its input " + trace.modifiedInput;
    for (const auto &[output, tensor] : trace.outputs)
      if (int64_t unwritten = trace.filled.contains(output) ? 0 : judge::unwrittenIn(tensor, referencePoison))
        return fmt::format("it left {} of {} elements of {} unwritten; give the buffer a fill if they are to stay as they were",
                           unwritten, tensor.count(), output);
    return {};
  }

  std::string name;
  card::Limits limits;
  std::optional<judge::Programs> programs;
};

/// A function that takes double where a buffer is float receives the same numbers as doubles.
class PlainOracle final : public WorkerOracle {
public:
  PlainOracle(std::string name, double timeoutSeconds, std::shared_ptr<ops::Declared> wide, judge::Step step)
      : WorkerOracle(std::move(name), timeoutSeconds), wide(std::move(wide)) {
    static_cast<judge::Step &>(build) = std::move(step);
  }

protected:
  Result<judge::Build> buildFor(const ops::Case &) override { return build; }
  const ops::Declared &seenBy() const override { return *wide; }
  ops::Problem asSeen(const ops::Problem &problem) const override {
    ops::Problem seen = problem;
    for (auto &[name, tensor] : seen.inputs) {
      ops::ElementType type = wide->buffer(name)->type.element;
      if (type == tensor.type)
        continue;
      ops::Tensor widened{type, tensor.shape, std::vector<std::byte>(size_t(tensor.count()) * ops::sizeOf(type))};
      for (int64_t n = 0; n < tensor.count(); ++n)
        widened.as<double>()[size_t(n)] = tensor.valueAt(n);
      tensor = std::move(widened);
    }
    return seen;
  }

private:
  std::shared_ptr<ops::Declared> wide;
  judge::Build build;
};

/// The declaration outlives its oracle, which it owns.
class OriginalOracle final : public WorkerOracle {
public:
  OriginalOracle(double timeoutSeconds, const ops::Declared &op, SourceKernel kernel)
      : WorkerOracle("original", timeoutSeconds), op(op), kernel(std::move(kernel)) {}

protected:
  Result<judge::Build> buildFor(const ops::Case &c) override {
    if (!candidate) {
      Result<card::Profile> profile = card::findProfile(embeddedCard);
      if (!profile)
        return std::unexpected(profile.error());
      candidate.emplace(op, kernel, CardTarget{*profile, session->info()});
    }
    auto prepared = candidate->prepare(c);
    if (!prepared)
      return std::unexpected(prepared.error());
    if (auto *outside = std::get_if<judge::OutsideLimits>(&*prepared))
      return noVerdict("the original takes no case '" + c.name + "': " + outside->why);
    return std::get<judge::Build>(std::move(*prepared));
  }
  const ops::Declared &seenBy() const override { return op; }

private:
  const ops::Declared &op;
  SourceKernel kernel;
  std::optional<SourceCandidate> candidate;
};

using Received = std::map<std::string, std::string>; // parameter to what it receives

/// What the reference's parameters receive: as said, else as the kernels' parameter of that name, else the buffer or symbol of
/// that name.
Result<Received> receivedBy(const std::vector<ops::ParameterView> &parameters, const Request &request,
                            const std::vector<ops::Signature> &launches) {
  Received received;
  for (const auto &[name, text] : request.reference.arguments)
    received[name] = text.text;
  for (const ops::ParameterView &p : parameters) {
    bool declared = p.isPointer ? request.declared->buffer(p.name) != nullptr : contains(request.declared->symbols(), p.name);
    if (received.contains(p.name) || declared)
      continue;
    std::set<std::string> known;
    for (const ops::Signature &launch : launches)
      for (size_t n = 0; n < launch.views.size(); ++n)
        if (launch.views[n].name == p.name && launch.views[n].isPointer == p.isPointer)
          known.insert(launch.bounds[n].text);
    if (known.size() > 1)
      return userError("parameter '" + p.name + "' of the reference receives one thing in one launch and another in the next",
                       "say which under [reference.arguments]", request.reference.where);
    if (!known.empty())
      received[p.name] = *known.begin();
  }
  return received;
}

Result<std::shared_ptr<ops::Declared>> widened(const ops::Declared &op, const std::vector<ops::ParameterView> &parameters,
                                               const Received &received) {
  std::vector<ops::DeclaredBuffer> buffers = op.buffers();
  for (const ops::ParameterView &p : parameters) {
    auto said = received.find(p.name);
    std::string name = said == received.end() ? p.name : said->second;
    for (ops::DeclaredBuffer &buffer : buffers)
      if (p.isPointer && buffer.name == name && buffer.type.element == ops::ElementType::Float32 &&
          p.element == ops::ElementType::Float64)
        buffer.type = {"double", ops::ElementType::Float64};
  }
  return ops::Declared::create(op.declaredSymbols(), std::move(buffers));
}

/// Every output must come from somewhere, and be known.
Status checkOutputs(const Request &request, std::span<const ops::Signature> signatures, const std::string &who) {
  std::set<std::string> received;
  for (const ops::Signature &signature : signatures)
    for (const ops::Bound &bound : signature.bounds)
      if (bound.kind == ops::Bound::Kind::Tensor)
        received.insert(bound.text);
  for (const ops::TensorInfo &info : request.declared->tensors())
    if (info.isCompared() && !received.contains(info.name))
      return userError(who + " does not receive " + info.name + ", which is an output",
                       "give it a parameter for it, or the buffer role = \"scratch\" if nothing is to be compared",
                       request.declared->buffer(info.name)->where);
  return {};
}

Status namePlain(Request &request, const std::vector<ops::Signature> &launches, KernelAccount &account) {
  const DeclaredReference &reference = request.reference;
  Result<cuda::Module> module = cuda::compileHostFunction(reference.source.string(), reference.function);
  if (!module)
    return at(reference.where, module.error());
  Result<std::vector<ops::ParameterView>> views = viewsOf(module->kernel);
  if (!views)
    return std::unexpected(views.error());
  Result<Received> received = receivedBy(*views, request, launches);
  if (!received)
    return std::unexpected(received.error());
  auto wide = widened(*request.declared, *views, *received);
  if (!wide)
    return std::unexpected(wide.error());
  Result<std::vector<ops::Bound>> bounds = ops::bindDeclared(**wide, *views, *received);
  if (!bounds)
    return userError("the reference " + reference.function + ": " + bounds.error().what,
                     "its parameters receive what the kernel's of the same name do; say otherwise under [reference.arguments]",
                     module->kernel.facts.where);
  ops::Signature signature{*views, *bounds};
  if (Status complete = checkOutputs(request, {&signature, 1}, "the reference " + reference.function); !complete)
    return complete;
  Result<card::Artifact> artifact = lower::toHost(*module);
  if (!artifact)
    return std::unexpected(artifact.error());
  judge::Step step{std::make_shared<const card::Artifact>(std::move(*artifact)), {}, std::move(*bounds), std::move(*views)};
  request.declared->answerWith(
      std::make_shared<PlainOracle>(reference.function, request.timeoutSeconds, std::move(*wide), std::move(step)));
  const SourcePlace &where = module->kernel.facts.where;
  account.lines.emplace_back("reference", fmt::format("{}, plain C++ ({}:{})", reference.function,
                                                      std::filesystem::path(where.file).filename().string(), where.line));
  return {};
}

} // namespace

Status nameReference(Request &request, SourceCandidate &source, const ops::Case &sample, KernelAccount &account) {
  if (!request.reference.isSaid) // only who judges needs one: sight does not
    return userError("'[reference]' is missing: nothing says what the outputs should be",
                     "add, for instance, reference = \"original\", or a section with source and function",
                     {request.file.string()});
  Result<std::vector<ops::Signature>> launches = source.signaturesFor(sample);
  if (!launches)
    return std::unexpected(launches.error());
  if (Status complete = checkOutputs(request, *launches, "the kernel"); !complete)
    return complete;
  std::vector<std::string> further;
  for (const FurtherLaunch &of : source.source().then)
    further.push_back(of.kernel);
  if (!further.empty())
    account.lines.emplace_back("then launched", join(further, ", "));
  if (!request.reference.source.empty())
    return namePlain(request, *launches, account);
  request.declared->answerWith(
      std::make_shared<OriginalOracle>(request.timeoutSeconds, *request.declared, source.source()));
  account.lines.emplace_back("reference", request.card == embeddedCard
                                              ? "the original on the card cpu itself: only what varies with the order can be seen"
                                              : "the original on the embedded card cpu");
  return {};
}

} // namespace opsight::port
