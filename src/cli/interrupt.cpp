#include "cli/interrupt.h"
#include "card/worker_process.h"
#include <csignal>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace opsight::cli {
namespace fs = std::filesystem;

static std::mutex guard;
static fs::path removable;

static std::vector<pid_t> childrenOf(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code failed;
  for (const fs::directory_entry &task : fs::directory_iterator("/proc/" + std::to_string(parent) + "/task", failed)) {
    std::ifstream list(task.path() / "children");
    for (pid_t child; list >> child;)
      children.push_back(child);
  }
  return children;
}

/// Children first stop, so that none starts another while they are counted.
static void killBelow(pid_t parent) {
  for (pid_t child : childrenOf(parent)) {
    ::kill(child, SIGSTOP);
    killBelow(child);
    ::kill(child, SIGKILL);
  }
}

static void leave(int signal) {
  card::holdWorkers();
  killBelow(::getpid());
  card::removeTemporaryFolders(); // a worker would do it, had it not just been killed
  std::lock_guard lock(guard);
  std::error_code ignored;
  if (!removable.empty())
    fs::remove_all(removable, ignored);
  std::fputs("\ninterrupted\n", stderr);
  ::_exit(128 + signal);
}

void watchForInterrupts() {
  // A thread that waits for the signal may do what a handler may not: read /proc, remove files.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    leave(signal);
  }).detach();
}

void removeOnInterrupt(fs::path path) {
  std::lock_guard lock(guard);
  removable = std::move(path);
}

} // namespace opsight::cli
