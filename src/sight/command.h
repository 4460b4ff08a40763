// Programs of others, run with a deadline; nothing they do outlives it.
#pragma once
#include "base/error.h"
#include <chrono>
#include <filesystem>
#include <vector>

namespace opsight::sight {

struct Ran {
  int status = -1;      // the exit status; 128 + n after signal n
  bool inTime = true;   // false: killed at the deadline
  std::string output{}; // standard output and error together, the first megabyte
};

/// Runs `words` (the first is the program's path, without a shell) in `folder` with nothing on standard input. An
/// internal error only where no process can be made; a program that is not there ends with status 127.
Result<Ran> runCommand(const std::vector<std::string> &words, const std::filesystem::path &folder,
                       std::chrono::milliseconds timeout);

} // namespace opsight::sight
