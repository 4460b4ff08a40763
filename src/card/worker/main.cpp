// The process in which device code runs. It is started by the tool with three descriptors (wire::WorkerFd) and never
// by hand.
#include "card/worker/faults.h"
#include "card/worker/server.h"
#include "card/worker/temporary.h"
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#ifdef OPSIGHT_SANITIZE
/// No search for leaks when a driver calls exit: it traces its own threads, which the filter forbids, and waits for ever.
extern "C" int __lsan_is_turned_off() { return 1; }
#endif

namespace {

/// Ends the whole process group as soon as the tool is gone, even while a kernel spins.
void *watchTool(void *) {
  pollfd lifeline{opsight::card::wire::LifelineFd, 0, 0};
  while (::poll(&lifeline, 1, -1) < 0 || !(lifeline.revents & (POLLHUP | POLLERR | POLLNVAL))) {
  }
  opsight::card::removeTemporaryFolder();
  ::kill(0, SIGKILL);
  return nullptr;
}

} // namespace

int main() {
  using namespace opsight::card;
  if (!installFaultHandlers()) {
    std::fputs("opsight-worker is started by opsight, not by hand\n", stderr);
    return 2;
  }
  // Children of a driver must hold neither: the tool waits for their ends.
  ::fcntl(wire::SocketFd, F_SETFD, FD_CLOEXEC);
  ::fcntl(wire::LifelineFd, F_SETFD, FD_CLOEXEC);
  pthread_t watchdog;
  if (::pthread_create(&watchdog, nullptr, watchTool, nullptr) != 0)
    return 70;
  int status = Server().serve();
  // When the tool is gone the watchdog tidies up and ends the process; it must not be cut short.
  ::sleep(5);
  // Destructors of drivers and libraries may hang after a kernel has scribbled; there is nothing left to save.
  ::_exit(status);
}
