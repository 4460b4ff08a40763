#include "card/worker_session.h"
#include "card/icd.h"
#include "card/launch_limits.h"
#include "card/message_text.h"
#include "card/shared_buffer.h"
#include "card/watch_reader.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <unistd.h>

namespace opsight::card {

namespace {
using std::chrono::milliseconds;
constexpr milliseconds greetingPatience{60'000}, shortPatience{20'000};
constexpr uint64_t maxScalarBytes = 4096; // CUDA's limit for all parameters together

ErrorKind kindOf(wire::Outcome outcome) {
  switch (outcome) {
  case wire::Outcome::User:
    return ErrorKind::User;
  case wire::Outcome::Unsupported:
    return ErrorKind::Unsupported;
  case wire::Outcome::NoVerdict:
    return ErrorKind::NoVerdict;
  default:
    return ErrorKind::Internal;
  }
}

bool isOurs(Parameter::Kind kind) {
  using Kind = Parameter::Kind;
  return kind == Kind::Symbol || kind == Kind::Message || kind == Kind::Watch || kind == Kind::Shadow;
}

bool has(const Manifest &manifest, Parameter::Kind kind) {
  return std::ranges::find(manifest.parameters, kind, &Parameter::kind) != manifest.parameters.end();
}

/// What our own buffer beside `parameter` needs.
std::pair<uint64_t, uint32_t> ownBuffer(const Parameter &parameter, const Artifact &artifact) {
  if (parameter.kind == Parameter::Kind::Symbol)
    return {std::max<uint64_t>(parameter.bytes, 1), std::max(16u, std::bit_ceil(parameter.alignment))};
  if (parameter.kind == Parameter::Kind::Watch)
    return {watchBytes(artifact.watch ? artifact.watch->blocks.size() : 0), 64};
  if (parameter.kind == Parameter::Kind::Shadow)
    return {64, 64}; // until a launch says how much it needs
  return {messageBufferBytes, 64};
}
} // namespace

Result<std::unique_ptr<Session>> WorkerSession::open(const Profile &profile, const Limits &limits) {
  WorkerSetup setup{profile.driver, profile.name, {}, limits, profile.vectorFloats};
  // Idle library threads must not burn the processors that kernels are timed on; and arenas of many threads would
  // eat the address space.
  setup.environment = {{"OMP_WAIT_POLICY", "passive"}, {"GOMP_SPINCOUNT", "0"}, {"MALLOC_ARENA_MAX", "4"}};
  std::unique_ptr<WorkerSession> session(new WorkerSession(std::move(setup)));
  if (!profile.icd.empty()) {
    auto folder = TemporaryFolder::create();
    if (!folder)
      return std::unexpected(folder.error());
    session->folder_ = std::move(*folder);
    auto environment = openClEnvironment(profile.icd, session->folder_->path());
    if (!environment)
      return std::unexpected(environment.error());
    session->setup_.environment.merge(*environment);
    session->setup_.environment["OPSIGHT_WORKER_FOLDER"] = session->folder_->path().string();
  }
  if (Status started = session->ensureWorker(); !started)
    return std::unexpected(started.error());
  return session;
}

WorkerSession::Reply WorkerSession::ask(wire::Type type, std::string_view payload, int fd, milliseconds patience,
                                        std::optional<milliseconds> running) {
  Reply reply;
  std::string bytes;
  reply.answer = process_->ask(type, payload, fd, patience, running, bytes);
  if (reply.answer != WorkerProcess::Answer::Ok)
    return reply;
  wire::Reader reader(bytes);
  auto outcome = static_cast<wire::Outcome>(reader.get<uint8_t>());
  std::string text = reader.text();
  if (!reader.ok()) {
    reply.answer = WorkerProcess::Answer::Garbled;
    return reply;
  }
  reply.refused = outcome != wire::Outcome::Ok;
  reply.error = Error{kindOf(outcome), printable(text), {}, {}};
  reply.payload = bytes.substr(sizeof(uint8_t) + sizeof(uint32_t) + text.size());
  return reply;
}

Status WorkerSession::ensureWorker() {
  if (process_)
    return {};
  auto process = WorkerProcess::start(setup_);
  if (!process)
    return std::unexpected(process.error());
  process_ = std::move(*process);
  ++generation_;
  buffers_->released.clear();
  wire::Writer greeting;
  greeting.text(setup_.driver).put(setup_.limits.memoryBytes);
  Reply reply = ask(wire::Type::Hello, greeting.bytes(), -1, greetingPatience);
  if (reply.answer != WorkerProcess::Answer::Ok) {
    auto death = process_->bury();
    process_.reset();
    return noVerdict("the worker of card '" + setup_.card + "' does not start" +
                     (death.stderrTail.empty() ? "" : ": " + death.stderrTail));
  }
  DeviceInfo info;
  wire::Reader reader(reply.payload);
  if (reply.refused || !wire::decode(reader, info)) {
    process_.reset();
    return std::unexpected(reply.refused ? reply.error : Error{ErrorKind::Internal, "the worker's greeting is garbled"});
  }
  info.card = setup_.card;
  info.device = printable(info.device);
  info.driver = printable(info.driver);
  info_ = std::move(info);
  return {};
}

Result<ProgramId> WorkerSession::load(const Artifact &artifact) {
  if (std::string missing = missingFeature(artifact.manifest, info_); !missing.empty())
    return unsupported("the kernel needs " + missing + ", which card '" + info_.card + "' does not have");
  Program program{artifact, 0, {}};
  for (const Parameter &parameter : artifact.manifest.parameters) {
    std::unique_ptr<Buffer> own;
    if (isOurs(parameter.kind)) {
      auto [bytes, alignment] = ownBuffer(parameter, artifact);
      auto made = createBuffer(bytes, alignment);
      if (!made)
        return std::unexpected(made.error());
      own = std::move(*made);
    }
    program.own.push_back(std::move(own));
  }
  programs_.push_back(std::move(program));
  auto id = static_cast<ProgramId>(programs_.size() - 1);
  Status loaded = ensureWorker();
  if (loaded)
    loaded = ensureLoaded(id);
  if (!loaded) {
    programs_.pop_back();
    return std::unexpected(loaded.error());
  }
  return id;
}

Status WorkerSession::ensureLoaded(ProgramId id) {
  Program &program = programs_[id];
  if (program.loadedIn == generation_)
    return {};
  const Manifest &manifest = program.artifact.manifest;
  wire::Writer out;
  out.put(id).put(static_cast<uint32_t>(manifest.format)).text(manifest.entry).put(manifest.residentBytes);
  out.put(static_cast<uint32_t>(manifest.parameters.size()));
  for (const Parameter &parameter : manifest.parameters)
    out.put(static_cast<uint32_t>(parameter.kind));
  auto code = codeDescriptor("opsight-code", program.artifact.code);
  if (!code)
    return std::unexpected(code.error());
  Reply reply = ask(wire::Type::Load, out.bytes(), *code, setup_.limits.buildTimeout);
  ::close(*code);
  if (reply.answer == WorkerProcess::Answer::Ok) {
    if (reply.refused)
      return std::unexpected(reply.error);
    program.loadedIn = generation_;
    return fillOwnBuffers(program);
  }
  auto death = process_->bury();
  process_.reset();
  if (reply.answer == WorkerProcess::Answer::Late)
    return std::unexpected(stillCompiling());
  std::string how = reply.answer == WorkerProcess::Answer::Garbled ? "answered out of turn while it loaded the kernel"
                    : death.page.kind == wire::FaultPage::SystemCall
                        ? std::string("ran code of the kernel that tried the system call ") + death.page.systemCall
                        : "crashed while it built the kernel";
  return unsupported("the driver of card '" + setup_.card + "' " + how +
                     (death.stderrTail.empty() ? "" : ": " + death.stderrTail));
}

/// Variables of the device start with their first content in every worker and keep what kernels leave in them.
Status WorkerSession::fillOwnBuffers(Program &program) {
  for (size_t i = 0; i < program.own.size(); ++i) {
    const Parameter &parameter = program.artifact.manifest.parameters[i];
    if (parameter.kind != Parameter::Kind::Symbol)
      continue;
    auto bytes = program.own[i]->bytes();
    std::ranges::fill(bytes, std::byte{0});
    std::memcpy(bytes.data(), parameter.initial.data(), std::min<size_t>(bytes.size(), parameter.initial.size()));
  }
  return {};
}

Result<std::unique_ptr<Buffer>> WorkerSession::createBuffer(uint64_t bytes, uint32_t alignment) {
  if (!std::has_single_bit(alignment) || alignment > 4096)
    return internalError("a buffer's alignment must be a power of two up to 4096");
  uint64_t most = std::min(info_.globalBytes, setup_.limits.memoryBytes);
  if (bytes > most)
    return noVerdict("a buffer of " + std::to_string(bytes) + " bytes is more than the " + std::to_string(most) +
                         " bytes that card '" + info_.card + "' may use",
                     "choose smaller cases");
  return SharedBuffer::create(buffers_, bytes, alignment);
}

Status WorkerSession::ensureMapped(uint32_t id) {
  BufferTable::Entry &entry = buffers_->live.at(id);
  if (entry.mappedIn == generation_)
    return {};
  wire::Writer out;
  out.put(id).put(entry.layout.regionBytes).put(entry.layout.offset).put(entry.layout.bytes);
  Reply reply = ask(wire::Type::Map, out.bytes(), entry.memory->fd(), shortPatience);
  if (reply.answer == WorkerProcess::Answer::Ok && reply.refused)
    return std::unexpected(reply.error);
  wire::Reader reader(reply.payload);
  entry.workerAddress = reader.get<uint64_t>();
  if (reply.answer != WorkerProcess::Answer::Ok || !reader.finished()) {
    process_.reset();
    return noVerdict("the worker of card '" + setup_.card + "' died while a buffer was mapped");
  }
  entry.mappedIn = generation_;
  return {};
}

void WorkerSession::unmapReleased() {
  std::vector<uint32_t> released = std::exchange(buffers_->released, {});
  for (uint32_t id : released)
    if (ask(wire::Type::Unmap, wire::Writer().put(id).bytes(), -1, shortPatience).answer != WorkerProcess::Answer::Ok) {
      process_.reset();
      return;
    }
}

Result<wire::LaunchRequest> WorkerSession::request(ProgramId id, const LaunchConfig &config,
                                                   std::span<const Argument> arguments) {
  const Program &program = programs_[id];
  wire::LaunchRequest request{id, config, {}};
  size_t next = 0;
  uint64_t scalarBytes = 0;
  for (size_t i = 0; i < program.own.size(); ++i) {
    const Parameter &parameter = program.artifact.manifest.parameters[i];
    wire::WireArgument argument;
    if (parameter.kind == Parameter::Kind::DynamicShared) {
      argument.kind = wire::WireArgument::Kind::DynamicShared;
    } else if (isOurs(parameter.kind)) {
      argument.buffer = program.own[i]->id();
    } else if (next == arguments.size()) {
      return internalError("kernel '" + program.artifact.manifest.kernel + "' was given too few arguments");
    } else if (const auto *buffer = std::get_if<const Buffer *>(&arguments[next++])) {
      if (parameter.kind != Parameter::Kind::Buffer || !*buffer || !buffers_->live.contains((*buffer)->id()))
        return internalError("parameter '" + parameter.name + "' was given a buffer that does not fit it");
      argument.buffer = (*buffer)->id();
    } else {
      const auto &bytes = std::get<std::vector<std::byte>>(arguments[next - 1]);
      if (parameter.kind != Parameter::Kind::Scalar || bytes.size() != parameter.bytes || bytes.empty() ||
          (scalarBytes += bytes.size()) > maxScalarBytes)
        return internalError("parameter '" + parameter.name + "' was given " + std::to_string(bytes.size()) + " bytes");
      argument.kind = wire::WireArgument::Kind::Scalar;
      argument.scalar.assign(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    }
    request.arguments.push_back(std::move(argument));
  }
  if (next != arguments.size())
    return internalError("kernel '" + program.artifact.manifest.kernel + "' was given too many arguments");
  return request;
}

/// Everything that a launch needs in the worker; nothing where it is over a limit, as `refused` then says.
Result<std::optional<wire::LaunchRequest>> WorkerSession::prepare(ProgramId id, const LaunchConfig &config,
                                                                  std::span<const Argument> arguments, Launched &refused) {
  if (id >= programs_.size())
    return internalError("no program of this number");
  Program &program = programs_[id];
  if (std::string over = overLimit(program.artifact.manifest, config, info_); !over.empty()) {
    refused = {.end = Launched::End::Refused, .detail = over};
    return std::nullopt;
  }
  auto launch = request(id, config, arguments);
  if (!launch)
    return std::unexpected(launch.error());
  if (process_)
    unmapReleased();
  Status ready = ensureWorker();
  if (ready)
    ready = ensureLoaded(id);
  for (const wire::WireArgument &argument : launch->arguments)
    if (ready && argument.kind == wire::WireArgument::Kind::Buffer)
      ready = ensureMapped(argument.buffer);
  if (!ready)
    return std::unexpected(ready.error());
  for (size_t i = 0; i < program.own.size(); ++i)
    if (program.artifact.manifest.parameters[i].kind == Parameter::Kind::Message)
      resetMessages(program.own[i]->bytes());
  return std::move(*launch);
}

Result<Launched> WorkerSession::run(ProgramId id, const wire::LaunchRequest &request) {
  Reply reply = ask(wire::Type::Launch, wire::encode(request), -1, setup_.limits.buildTimeout, setup_.limits.runTimeout);
  auto launched = explain(reply, request, programs_[id]);
  if (launched)
    collectMessages(*launched, programs_[id]);
  return launched;
}

Result<Launched> WorkerSession::launch(ProgramId id, const LaunchConfig &config, std::span<const Argument> arguments) {
  if (id < programs_.size() && programs_[id].artifact.watch) {
    if (!has(programs_[id].artifact.manifest, Parameter::Kind::Shadow))
      return watch(id, config, arguments, {}); // somebody has to read what it publishes
    auto checked = check(id, config, arguments);
    return checked ? Result<Launched>(std::move(checked->launched)) : std::unexpected(checked.error());
  }
  Launched refused;
  auto request = prepare(id, config, arguments, refused);
  if (!request)
    return std::unexpected(request.error());
  return *request ? run(id, **request) : refused;
}

/// The memory that the launch hands to the kernel, by its parameters' names.
std::vector<Region> WorkerSession::regionsOf(const wire::LaunchRequest &request, const Program &program) {
  std::vector<Region> regions;
  for (size_t i = 0; i < program.own.size(); ++i) {
    const Parameter &parameter = program.artifact.manifest.parameters[i];
    if (parameter.kind != Parameter::Kind::Buffer && parameter.kind != Parameter::Kind::Symbol)
      continue;
    const BufferTable::Entry &entry = buffers_->live.at(request.arguments[i].buffer);
    uint64_t bytes = parameter.kind == Parameter::Kind::Symbol ? parameter.bytes : entry.layout.bytes;
    regions.push_back({parameter.name, entry.workerAddress, bytes, entry.buffer->isInitialised});
  }
  return regions;
}

Result<Launched> WorkerSession::watch(ProgramId id, const LaunchConfig &config, std::span<const Argument> arguments,
                                      std::span<Observer *const> observers) {
  Launched refused;
  auto request = prepare(id, config, arguments, refused);
  if (!request)
    return std::unexpected(request.error());
  if (!*request)
    return refused;
  const Program &program = programs_[id];
  auto ring = std::ranges::find(program.artifact.manifest.parameters, Parameter::Kind::Watch, &Parameter::kind);
  if (!program.artifact.watch || ring == program.artifact.manifest.parameters.end())
    return internalError("kernel '" + program.artifact.manifest.kernel + "' was not lowered to be watched");
  WatchedLaunch seen{*program.artifact.watch, config, regionsOf(**request, program)};
  size_t index = size_t(ring - program.artifact.manifest.parameters.begin());
  WatchReader reader(program.own[index]->bytes(), seen, observers);
  auto launched = run(id, **request);
  if (reader.finish() || !launched || launched->end != Launched::End::Done)
    return launched;
  return Launched{.end = Launched::End::Crash, .detail = "the kernel wrote over the memory through which it is watched",
                  .outOfBounds = true};
}

void WorkerSession::collectMessages(Launched &launched, const Program &program) {
  for (size_t i = 0; i < program.own.size(); ++i) {
    if (program.artifact.manifest.parameters[i].kind != Parameter::Kind::Message)
      continue;
    Messages messages = readMessages(program.own[i]->bytes(), program.artifact.manifest.formats);
    launched.printed += messages.printed;
    if (messages.asserted) {
      launched.end = Launched::End::Assert;
      launched.detail = messages.assertion;
      launched.outOfBounds = false;
    } else if (!messages.unmet.empty()) { // also of a launch that then hung or crashed: this came first
      launched.end = Launched::End::Barrier;
      launched.detail = messages.unmet;
      launched.outOfBounds = false;
    }
  }
}

Result<Session::Peak> WorkerSession::measurePeak() {
  if (Status started = ensureWorker(); !started)
    return std::unexpected(started.error());
  Reply reply = ask(wire::Type::Peak, wire::Writer().put(setup_.vectorFloats).bytes(), -1, shortPatience);
  wire::Reader reader(reply.payload);
  Peak peak;
  peak.gflopsFp32 = reader.get<double>();
  peak.readGbps = reader.get<double>();
  if (reply.answer != WorkerProcess::Answer::Ok || !reader.finished() || !std::isfinite(peak.gflopsFp32)) {
    process_.reset();
    return noVerdict("the worker of card '" + setup_.card + "' could not measure its peak");
  }
  return peak;
}

} // namespace opsight::card
