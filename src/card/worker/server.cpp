#include "card/worker/server.h"
#include "card/worker/faults.h"
#include <sys/resource.h>
#include <unistd.h>

namespace opsight::card {

namespace {
using wire::Outcome;

Outcome outcomeOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::User:
    return Outcome::User;
  case ErrorKind::Unsupported:
    return Outcome::Unsupported;
  case ErrorKind::NoVerdict:
    return Outcome::NoVerdict;
  case ErrorKind::Internal:
    break;
  }
  return Outcome::Internal;
}

void limit(int resource, uint64_t value) {
  rlimit old{};
  ::getrlimit(static_cast<__rlimit_resource>(resource), &old);
  rlimit wanted{value, old.rlim_max == RLIM_INFINITY ? value : std::min<rlim_t>(value, old.rlim_max)};
  wanted.rlim_cur = wanted.rlim_max;
  ::setrlimit(static_cast<__rlimit_resource>(resource), &wanted);
}

void limitProcess(uint64_t memoryBytes) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 1ull << 30);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max; // each native program keeps one descriptor
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
#ifndef OPSIGHT_SANITIZE // its shadow memory alone is larger than any sensible limit
  limit(RLIMIT_AS, memoryBytes);
#endif
}

struct DriverRow {
  const char *name;
  DriverMaker make;
};
constexpr DriverRow drivers[] = {{"cpu", makeCpuDriver}, {"opencl", makeOpenClDriver}};
} // namespace

int Server::serve() {
  while (true) {
    wire::Datagram request;
    if (wire::receive(wire::SocketFd, request) != wire::Received::Datagram)
      return 0;
    Reply reply = answer(request);
    if (request.fd >= 0)
      ::close(request.fd);
    wire::Writer out;
    out.put(reply.outcome).text(reply.text);
    if (!wire::send(wire::SocketFd, request.type, request.sequence, out.bytes() + reply.payload))
      return 0;
  }
}

Server::Reply Server::answer(wire::Datagram &request) {
  wire::Reader reader(request.payload);
  if (!driver_ && request.type != wire::Type::Hello)
    return {Outcome::Internal, "the first request must be a greeting", {}};
  switch (request.type) {
  case wire::Type::Hello:
    return hello(reader);
  case wire::Type::Load:
    return load(reader, request.fd);
  case wire::Type::Map:
    return map(reader, request.fd);
  case wire::Type::Unmap:
    return unmap(reader);
  case wire::Type::Launch:
    return launch(reader, request.sequence);
  case wire::Type::Peak:
    return peak(reader);
  }
  return {Outcome::Internal, "unknown request", {}};
}

Server::Reply Server::hello(wire::Reader &reader) {
  std::string name = reader.text();
  auto memoryBytes = reader.get<uint64_t>();
  if (!reader.finished() || driver_)
    return {Outcome::Internal, "malformed greeting", {}};
  limitProcess(memoryBytes);
  for (const DriverRow &row : drivers) {
    if (name != row.name)
      continue;
    auto driver = row.make();
    if (!driver)
      return {outcomeOf(driver.error().kind), driver.error().what, {}};
    auto info = (*driver)->describe();
    if (!info)
      return {outcomeOf(info.error().kind), info.error().what, {}};
    driver_ = std::move(*driver);
    return {Outcome::Ok, {}, wire::encode(*info)};
  }
  return {Outcome::Internal, "unknown driver '" + name + "'", {}};
}

Server::Reply Server::load(wire::Reader &reader, int fd) {
  auto program = reader.get<uint32_t>();
  ProgramSource source;
  source.format = static_cast<Format>(reader.get<uint32_t>());
  source.entry = reader.text();
  source.residentBytes = reader.get<uint64_t>();
  auto count = reader.get<uint32_t>();
  for (uint32_t i = 0; i < count && reader.ok(); ++i)
    source.parameters.push_back(static_cast<Parameter::Kind>(reader.get<uint32_t>()));
  source.code = fd;
  if (!reader.finished())
    return {Outcome::Internal, "malformed program", {}};
  if (Status loaded = driver_->load(program, source); !loaded)
    return {outcomeOf(loaded.error().kind), loaded.error().what, {}};
  return {};
}

Server::Reply Server::map(wire::Reader &reader, int fd) {
  auto id = reader.get<uint32_t>();
  auto region = reader.get<uint64_t>(), offset = reader.get<uint64_t>(), bytes = reader.get<uint64_t>();
  if (!reader.finished() || fd < 0 || offset > region || bytes > region - offset)
    return {Outcome::Internal, "malformed buffer", {}};
  auto mapping = GuardedMapping::create(fd, region, id * 7);
  if (!mapping)
    return {outcomeOf(mapping.error().kind), mapping.error().what, {}};
  std::byte *data = (*mapping)->region() + offset;
  if (Status mapped = driver_->map(id, {data, bytes}); !mapped)
    return {outcomeOf(mapped.error().kind), mapped.error().what, {}};
  mappings_[id] = std::move(*mapping);
  return {Outcome::Ok, {}, wire::Writer().put(reinterpret_cast<uint64_t>(data)).bytes()};
}

Server::Reply Server::unmap(wire::Reader &reader) {
  auto id = reader.get<uint32_t>();
  driver_->unmap(id);
  mappings_.erase(id);
  return {};
}

Server::Reply Server::launch(wire::Reader &reader, uint32_t sequence) {
  wire::LaunchRequest request;
  if (!wire::decode(reader, request))
    return {Outcome::Internal, "malformed launch", {}};
  auto begins = [sequence] {
    faultPage().sequence = sequence;
    faultPage().running = 1;
  };
  auto seconds = driver_->launch(request, begins);
  faultPage().running = 0;
  if (!seconds)
    return {outcomeOf(seconds.error().kind), seconds.error().what, {}};
  return {Outcome::Ok, {}, wire::Writer().put(*seconds).bytes()};
}

Server::Reply Server::peak(wire::Reader &reader) {
  auto vectorFloats = reader.get<uint32_t>();
  if (!reader.finished())
    return {Outcome::Internal, "malformed question for the peak", {}};
  Session::Peak peak = driver_->measurePeak(vectorFloats);
  return {Outcome::Ok, {}, wire::Writer().put(peak.gflopsFp32).put(peak.readGbps).bytes()};
}

} // namespace opsight::card
