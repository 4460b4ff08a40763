#include "base/error.h"

namespace opsight {

int exitCode(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::User:
    return 2;
  case ErrorKind::Unsupported:
    return 3;
  case ErrorKind::NoVerdict:
    return 4;
  case ErrorKind::Internal:
    return 70;
  }
  return 70;
}

std::string describe(const Error &error) {
  std::string text;
  if (!error.where.file.empty()) {
    text += error.where.file;
    if (error.where.line) {
      text += ":" + std::to_string(error.where.line);
      if (error.where.column)
        text += ":" + std::to_string(error.where.column);
    }
    text += ": ";
  }
  text += error.what;
  if (!error.next.empty())
    text += "\n  " + error.next;
  return text;
}

} // namespace opsight
