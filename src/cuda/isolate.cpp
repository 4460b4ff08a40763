#include "cuda/isolate.h"
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <llvm/Support/thread.h>
#include <new>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace opsight::cuda {
namespace {
using Clock = std::chrono::steady_clock;
constexpr unsigned stackBytes = 256u << 20;
constexpr int outOfMemoryStatus = 71; // the child's exit status when an allocation failed

#ifdef OPSIGHT_SANITIZE
void limitMemory(uint64_t) {} // a sanitizer's shadow is terabytes of address space
#else
/// `bytes` more than are mapped now.
void limitMemory(uint64_t bytes) {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit memory{pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) + bytes, RLIM_INFINITY};
  ::setrlimit(RLIMIT_AS, &memory);
}
#endif

void writeAll(int fd, const std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR)
      ::_exit(1);
    done += n > 0 ? static_cast<size_t>(n) : 0;
  }
}

[[noreturn]] void beChild(int fd, const IsolationLimits &limits, const std::function<std::string()> &work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGINT, SIGTERM, SIGPIPE})
    ::signal(signal, SIG_DFL);
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  limitMemory(limits.memoryBytes);
  std::set_new_handler([] { ::_exit(outOfMemoryStatus); });
  llvm::thread worker(std::optional<unsigned>(stackBytes), [&] { writeAll(fd, work()); });
  worker.join();
  ::_exit(0);
}

/// Everything the child writes until it closes its end; false when the deadline came first.
bool readUntil(int fd, Clock::time_point deadline, std::string &bytes) {
  char buffer[1 << 16];
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0)
      return false;
    pollfd waiting{fd, POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(std::min<long>(left, 1000))) <= 0)
      continue;
    ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n == 0)
      return true;
    if (n > 0)
      bytes.append(buffer, static_cast<size_t>(n));
    else if (errno != EINTR)
      return true;
  }
}

std::unexpected<Error> explain(int status, const std::string &subject) {
  std::string next = "please send in that file";
  if (WIFSIGNALED(status))
    return internalError("the compiler crashed on '" + subject + "' (" + ::strsignal(WTERMSIG(status)) + ")", next);
  if (WEXITSTATUS(status) == outOfMemoryStatus)
    return userError("'" + subject + "' needs more memory to compile than is allowed",
                     "look for templates or constants without end");
  std::string code = std::to_string(WEXITSTATUS(status));
  return internalError("the compiler stopped on '" + subject + "' with status " + code, next);
}
} // namespace

Result<std::string> runIsolated(const std::string &subject, const IsolationLimits &limits,
                                const std::function<std::string()> &work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return internalError(std::string("cannot make a pipe: ") + std::strerror(errno));
  pid_t child = ::fork();
  if (child < 0) {
    ::close(ends[0]), ::close(ends[1]);
    return internalError(std::string("cannot start the compiler: ") + std::strerror(errno));
  }
  if (child == 0)
    beChild(ends[1], limits, work);
  ::close(ends[1]);
  std::string bytes;
  bool inTime = readUntil(ends[0], Clock::now() + limits.time, bytes);
  ::close(ends[0]);
  if (!inTime)
    ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!inTime)
    return userError("'" + subject + "' was still compiling after " + std::to_string(limits.time.count()) + " s",
                     "look for templates or constants without end");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return explain(status, subject);
  return bytes;
}

} // namespace opsight::cuda
