#include "sight/command.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace opsight::sight {

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t mostOutput = 1 << 20;

[[noreturn]] void beCommand(int out, const char *folder, char *const *words) {
  ::setpgid(0, 0); // so that its children can be ended with it
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0), ::dup2(out, 1), ::dup2(out, 2);
  if (::chdir(folder) == 0)
    ::execv(words[0], words);
  ::_exit(127);
}

/// Reads until the other end closes or the deadline comes; false for the latter.
bool readAll(int fd, Clock::time_point deadline, std::string &text) {
  char buffer[1 << 14];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0)
      return false;
    pollfd waiting{fd, POLLIN, 0};
    if (::poll(&waiting, 1, int(std::min<long>(left, 1000))) <= 0)
      continue;
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n == 0 || (n < 0 && errno != EINTR))
      return true;
    if (n > 0 && text.size() < mostOutput)
      text.append(buffer, size_t(n));
  }
}

} // namespace

Result<Ran> runCommand(const std::vector<std::string> &words, const std::filesystem::path &folder,
                       std::chrono::milliseconds timeout) {
  std::vector<char *> pointers;
  for (const std::string &word : words)
    pointers.push_back(const_cast<char *>(word.c_str()));
  pointers.push_back(nullptr);
  const std::string where = folder.string(); // nothing may be allocated after fork
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return internalError(std::string("cannot make a pipe: ") + std::strerror(errno));
  const pid_t child = ::fork();
  if (child == 0)
    beCommand(ends[1], where.c_str(), pointers.data());
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return internalError(std::string("cannot start '") + words.front() + "': " + std::strerror(errno));
  }
  Ran ran;
  ran.inTime = readAll(ends[0], Clock::now() + timeout, ran.output);
  ::close(ends[0]);
  if (!ran.inTime)
    ::kill(-child, SIGKILL), ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

} // namespace opsight::sight
