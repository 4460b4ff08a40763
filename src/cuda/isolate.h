// Clang works in a child process: source that crashes it, or templates without end, cost one error, not the tool.
#pragma once
#include "base/error.h"
#include <chrono>
#include <functional>
#include <string>

namespace opsight::cuda {

struct IsolationLimits {
  std::chrono::seconds time{60};
  uint64_t memoryBytes = 8ull << 30; // address space beyond what the process already has
};

/// Runs `work` in a forked child, on a stack large enough for deep templates, and returns the bytes it made. `subject`
/// names the file in errors: Internal for a crash, User for exhausted time or memory.
Result<std::string> runIsolated(const std::string &subject, const IsolationLimits &limits,
                                const std::function<std::string()> &work);

} // namespace opsight::cuda
