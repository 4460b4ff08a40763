// What the tool and its worker say to each other: one request, one reply, each one datagram of a socket pair. A worker
// whose memory a kernel has scribbled over may send anything, so the reading side trusts no length and no number.
#pragma once
#include "card/session.h"
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace opsight::card::wire {

inline constexpr uint32_t magic = 0x4f505357; // "OPSW"
inline constexpr uint16_t version = 1;
inline constexpr size_t maxDatagram = 96 << 10;
inline constexpr size_t maxText = 32 << 10; // of one driver log or detail

/// How far before and after a buffer's pages no other memory lies in the worker.
inline constexpr uint64_t guardBytes = 1 << 20;

/// File descriptors the worker is born with.
enum WorkerFd { SocketFd = 3, LifelineFd = 4, FaultFd = 5 };

enum class Type : uint16_t { Hello = 1, Load, Map, Unmap, Launch, Peak };
enum class Outcome : uint8_t { Ok, User, Unsupported, NoVerdict, Internal };

/// Builds one datagram's payload, little endian as the host is.
class Writer {
public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  Writer &put(const T &value) {
    bytes_.append(reinterpret_cast<const char *>(&value), sizeof value);
    return *this;
  }
  Writer &text(std::string_view value);
  const std::string &bytes() const { return bytes_; }

private:
  std::string bytes_;
};

/// Reads a payload; after the first value that is not there, everything reads as zero and ok() is false.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
    requires std::is_trivially_copyable_v<T>
  T get() {
    T value{};
    if (rest_.size() < sizeof value) {
      ok_ = false;
      rest_ = {};
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string text();
  bool ok() const { return ok_; }
  bool finished() const { return ok_ && rest_.empty(); }

private:
  std::string_view rest_;
  bool ok_ = true;
};

/// A datagram as received: `fd` is -1 unless one came along.
struct Datagram {
  Type type{};
  uint32_t sequence = 0;
  std::string payload;
  int fd = -1;
};

enum class Received { Datagram, Closed, Malformed };

/// False when the other side is gone or the payload is too long.
bool send(int socket, Type type, uint32_t sequence, std::string_view payload, int fd = -1);
/// Blocks for one datagram; Malformed when its header or length is not ours.
Received receive(int socket, Datagram &into);

/// How a program's launch argument travels.
struct WireArgument {
  enum class Kind : uint8_t { Buffer, Scalar, DynamicShared } kind{};
  uint32_t buffer = 0; // Buffer, Symbol and Message parameters
  std::string scalar;  // bytes by value
};

struct LaunchRequest {
  uint32_t program = 0;
  LaunchConfig config;
  std::vector<WireArgument> arguments;
};
std::string encode(const LaunchRequest &launch);
bool decode(Reader &reader, LaunchRequest &launch);

std::string encode(const DeviceInfo &info);
bool decode(Reader &reader, DeviceInfo &info);

/// The page on which a dying worker leaves its last words: no system call is needed to write it.
struct FaultPage {
  enum Kind : uint32_t { None = 0, Signal = 1, SystemCall = 2 };
  uint32_t kind;
  int32_t signal, code;
  uint32_t isWrite, isStack;
  uint64_t address;
  char systemCall[32];
  uint32_t running; // 1 while device code runs (a driver may compile before that), in the launch with this...
  uint32_t sequence; // ...sequence number
};

} // namespace opsight::card::wire
