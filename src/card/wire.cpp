#include "card/wire.h"
#include <cerrno>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace opsight::card::wire {

namespace {
struct Header {
  uint32_t magic;
  uint16_t version;
  uint16_t type;
  uint32_t sequence;
  uint32_t payloadBytes;
};

union ControlRoom {
  cmsghdr aligned;
  char bytes[CMSG_SPACE(sizeof(int) * 4)];
};

/// Keeps the first descriptor that came along and closes any other.
int takeFd(msghdr &message) {
  int kept = -1;
  for (cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
      continue;
    size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
      if (kept < 0)
        kept = fd;
      else
        ::close(fd);
    }
  }
  return kept;
}
} // namespace

Writer &Writer::text(std::string_view value) {
  value = value.substr(0, maxText);
  put(static_cast<uint32_t>(value.size()));
  bytes_.append(value);
  return *this;
}

std::string Reader::text() {
  auto size = get<uint32_t>();
  if (size > maxText || size > rest_.size()) {
    ok_ = false;
    rest_ = {};
    return {};
  }
  std::string value(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return value;
}

bool send(int socket, Type type, uint32_t sequence, std::string_view payload, int fd) {
  if (sizeof(Header) + payload.size() > maxDatagram)
    return false;
  Header header{magic, version, static_cast<uint16_t>(type), sequence, static_cast<uint32_t>(payload.size())};
  iovec parts[] = {{&header, sizeof header}, {const_cast<char *>(payload.data()), payload.size()}};
  ControlRoom control{};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  if (fd >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(sizeof fd);
    cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  ssize_t sent;
  do
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof header + payload.size());
}

Received receive(int socket, Datagram &into) {
  std::string bytes(maxDatagram, '\0');
  iovec part{bytes.data(), bytes.size()};
  ControlRoom control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t n;
  do
    n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n <= 0)
    return Received::Closed;
  into.fd = takeFd(message);
  Header header{};
  if (static_cast<size_t>(n) >= sizeof header)
    std::memcpy(&header, bytes.data(), sizeof header);
  bool sound = header.magic == magic && header.version == version && !(message.msg_flags & MSG_TRUNC) &&
               header.payloadBytes == static_cast<size_t>(n) - sizeof header;
  if (!sound) {
    if (into.fd >= 0)
      ::close(into.fd);
    into.fd = -1;
    return Received::Malformed;
  }
  into.type = static_cast<Type>(header.type);
  into.sequence = header.sequence;
  into.payload.assign(bytes, sizeof header, header.payloadBytes);
  return Received::Datagram;
}

std::string encode(const LaunchRequest &launch) {
  Writer out;
  out.put(launch.program).put(launch.config.grid).put(launch.config.block).put(launch.config.dynamicSharedBytes);
  out.put(launch.config.order);
  out.put(static_cast<uint32_t>(launch.arguments.size()));
  for (const WireArgument &argument : launch.arguments)
    out.put(argument.kind).put(argument.buffer).text(argument.scalar);
  return out.bytes();
}

bool decode(Reader &reader, LaunchRequest &launch) {
  launch.program = reader.get<uint32_t>();
  launch.config.grid = reader.get<Dim3>();
  launch.config.block = reader.get<Dim3>();
  launch.config.dynamicSharedBytes = reader.get<uint64_t>();
  launch.config.order = reader.get<uint64_t>();
  auto count = reader.get<uint32_t>();
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    WireArgument argument;
    argument.kind = reader.get<WireArgument::Kind>();
    argument.buffer = reader.get<uint32_t>();
    argument.scalar = reader.text();
    launch.arguments.push_back(std::move(argument));
  }
  return reader.finished();
}

std::string encode(const DeviceInfo &info) {
  Writer out;
  out.text(info.device).text(info.driver).text(info.vendorLibrary).text(info.unconfined);
  out.put(info.takesIl).put(info.hasDouble).put(info.hasHalf).put(info.hasInt64Atomics);
  out.put(info.watchesBarriers);
  out.put(info.sharedBytes).put(info.globalBytes).put(info.maxAllocation).put(info.residentBytes);
  out.put(info.maxThreadsPerBlock).put(info.computeUnits).put(info.maxBlock).put(info.maxGrid);
  out.put(static_cast<uint32_t>(info.subgroupWidths.size()));
  for (uint32_t width : info.subgroupWidths)
    out.put(width);
  return out.bytes();
}

bool decode(Reader &reader, DeviceInfo &info) {
  info.device = reader.text();
  info.driver = reader.text();
  info.vendorLibrary = reader.text();
  info.unconfined = reader.text();
  // As bytes: a bool of any other value than 0 and 1 would be undefined.
  for (bool *flag : {&info.takesIl, &info.hasDouble, &info.hasHalf, &info.hasInt64Atomics, &info.watchesBarriers})
    *flag = reader.get<uint8_t>() != 0;
  info.sharedBytes = reader.get<uint64_t>();
  info.globalBytes = reader.get<uint64_t>();
  info.maxAllocation = reader.get<uint64_t>();
  info.residentBytes = reader.get<uint64_t>();
  info.maxThreadsPerBlock = reader.get<uint32_t>();
  info.computeUnits = reader.get<uint32_t>();
  info.maxBlock = reader.get<std::array<uint64_t, 3>>();
  info.maxGrid = reader.get<std::array<uint64_t, 3>>();
  auto count = reader.get<uint32_t>();
  for (uint32_t i = 0; i < count && reader.ok(); ++i)
    info.subgroupWidths.push_back(reader.get<uint32_t>());
  return reader.finished();
}

} // namespace opsight::card::wire
