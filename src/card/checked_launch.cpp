// WorkerSession::check: a launch of code under checks, and what its shadow memory says of it afterwards.
#include "card/shadow_plan.h"
#include "card/worker_session.h"
#include <algorithm>

namespace opsight::card {

/// Of a launch's shadow memory: in the worker the kernel's own buffers need room, too.
static uint64_t mostShadow(const Limits &limits) { return std::min<uint64_t>(limits.memoryBytes / 8, 512ull << 20); }

/// The buffer beside `parameter`, made anew where it is too small.
Result<std::span<std::byte>> WorkerSession::shadowOf(Program &program, size_t parameter, uint64_t bytes) {
  std::unique_ptr<Buffer> &own = program.own[parameter];
  if (own->bytes().size() < bytes) {
    auto made = createBuffer(bytes, 64);
    if (!made)
      return std::unexpected(made.error());
    own = std::move(*made);
  }
  return own->bytes();
}

const Buffer *WorkerSession::bufferOf(const wire::LaunchRequest &request, const Program &program,
                                      const Region &region) const {
  auto found = std::ranges::find(program.artifact.manifest.parameters, region.name, &Parameter::name);
  return buffers_->live.at(request.arguments[size_t(found - program.artifact.manifest.parameters.begin())].buffer)
      .buffer;
}

static std::string placeName(const Watch &watch, uint32_t site) {
  if (site >= watch.sites.size()) // it may have been written by anybody
    return "a place that is none";
  const SourcePlace &where = watch.sites[site].where;
  return where.file + ":" + std::to_string(where.line);
}

Result<CheckedLaunch> WorkerSession::check(ProgramId id, const LaunchConfig &config,
                                           std::span<const Argument> arguments) {
  CheckedLaunch checked;
  auto first = prepare(id, config, arguments, checked.launched);
  if (!first)
    return std::unexpected(first.error());
  checked.why = checked.launched.detail;
  if (!*first)
    return checked;
  Program &program = programs_[id];
  auto kept = std::ranges::find(program.artifact.manifest.parameters, Parameter::Kind::Shadow, &Parameter::kind);
  if (!program.artifact.watch || kept == program.artifact.manifest.parameters.end())
    return internalError("kernel '" + program.artifact.manifest.kernel + "' was not lowered to be checked");
  auto index = size_t(kept - program.artifact.manifest.parameters.begin());
  const WatchedLaunch seen{*program.artifact.watch, config, regionsOf(**first, program)};
  auto planned = LaunchShadow::plan(seen, mostShadow(setup_.limits));
  if (auto *why = std::get_if<std::string>(&planned)) {
    checked.launched = {.end = Launched::End::Refused, .detail = "it cannot be checked: " + *why};
    checked.why = checked.launched.detail;
    return checked;
  }
  const LaunchShadow &shadow = std::get<LaunchShadow>(planned);
  auto memory = shadowOf(program, index, shadow.bytes());
  if (!memory)
    return std::unexpected(memory.error());
  auto request = prepare(id, config, arguments, checked.launched); // again: the shadow may be another buffer
  if (!request)
    return std::unexpected(request.error());
  shadow.fill(*memory);
  auto launched = run(id, **request);
  if (!launched)
    return std::unexpected(launched.error());
  checked.launched = std::move(*launched);
  auto site = LaunchShadow::suspectSite(*memory);
  if (checked.launched.end != Launched::End::Done)
    checked.why = checked.launched.detail;
  else if (site)
    checked.why = placeName(seen.watch, *site) + " may be at fault";
  else if (LaunchShadow::isUndecided(*memory))
    checked.why = "a block comes by more barriers than can be told apart";
  checked.isClean = checked.launched.end == Launched::End::Done && checked.why.empty();
  for (size_t i = 0; checked.isClean && i < seen.watch.objects.size(); ++i)
    if (int32_t region = seen.regionOf(seen.watch.objects[i]);
        region >= 0 && !seen.regions[size_t(region)].isInitialised && shadow.isWritten(*memory, i))
      checked.filled.push_back(bufferOf(**request, program, seen.regions[size_t(region)]));
  return checked;
}

} // namespace opsight::card
