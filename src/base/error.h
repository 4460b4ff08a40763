// Errors are values with a kind, a place, a cause and a next step. Only src/cli prints them or exits.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace opsight {

/// Who has to act. The exit code of the tool follows from it (interface.md, "Exit codes").
enum class ErrorKind {
  User,        // 2: a file, an option, CUDA that does not compile
  Unsupported, // 3: Opsight or the card cannot do this; `what` names it
  NoVerdict,   // 4: the device is missing or failed, or the measurement was too noisy to decide
  Internal,    // 70: a fault of ours
};

/// A position in a text the user wrote; line and column count from 1, 0 means unknown.
struct SourcePlace {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

struct Error {
  ErrorKind kind = ErrorKind::Internal;
  std::string what; // what happened: one sentence without a full stop, or a compiler's own words
  SourcePlace where{};
  std::string next{}; // what the user can do now; may be empty
};

template <class T> using Result = std::expected<T, Error>;
using Status = std::expected<void, Error>;

inline std::unexpected<Error> fail(ErrorKind kind, std::string what, std::string next = {}, SourcePlace where = {}) {
  return std::unexpected(Error{kind, std::move(what), std::move(where), std::move(next)});
}
inline std::unexpected<Error> userError(std::string what, std::string next = {}, SourcePlace where = {}) {
  return fail(ErrorKind::User, std::move(what), std::move(next), std::move(where));
}
inline std::unexpected<Error> unsupported(std::string what, std::string next = {}, SourcePlace where = {}) {
  return fail(ErrorKind::Unsupported, std::move(what), std::move(next), std::move(where));
}
inline std::unexpected<Error> noVerdict(std::string what, std::string next = {}) {
  return fail(ErrorKind::NoVerdict, std::move(what), std::move(next));
}
inline std::unexpected<Error> internalError(std::string what, std::string next = {}) {
  return fail(ErrorKind::Internal, std::move(what), std::move(next));
}

int exitCode(ErrorKind kind);

/// "file:line:column: what" and, on a second line, the next step.
std::string describe(const Error &error);

} // namespace opsight
