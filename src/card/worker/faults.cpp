#include "card/worker/faults.h"
#include <csignal>
#include <pthread.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace opsight::card {

namespace {
constexpr size_t signalStackBytes = 64 << 10;
constexpr size_t knownCalls = 512;
constexpr int exitAfterFault = 70;

volatile wire::FaultPage *page = nullptr;
char callNames[knownCalls][32];
thread_local uintptr_t stackLow = 0, stackHigh = 0;

/// Resolved before they are needed: the resolver allocates.
void resolveCallNames() {
  for (size_t i = 0; i < knownCalls; ++i)
    if (char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(i))) {
      std::strncpy(callNames[i], name, sizeof callNames[i] - 1);
      std::free(name);
    }
}

/// The stack and a megabyte below it: an overflowing frame may step over the guard page.
bool isOwnStack(uintptr_t address) { return stackLow && address + (1 << 20) >= stackLow && address < stackHigh; }

void onFatalSignal(int signal, siginfo_t *info, void *context) {
  if (page && page->kind == wire::FaultPage::None) {
    page->signal = signal;
    page->code = info->si_code;
    page->address = reinterpret_cast<uintptr_t>(info->si_addr);
#if defined(__x86_64__)
    page->isWrite = (static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#endif
    page->isStack = signal == SIGSEGV && isOwnStack(page->address);
    page->kind = wire::FaultPage::Signal;
  }
  ::_exit(exitAfterFault);
}

void onSystemCall(int, siginfo_t *info, void *) {
  if (page && page->kind == wire::FaultPage::None) {
    auto number = static_cast<size_t>(info->si_syscall);
    const char *name = number < knownCalls && callNames[number][0] ? callNames[number] : "an unknown number";
    for (size_t i = 0; i + 1 < sizeof page->systemCall; ++i)
      page->systemCall[i] = name[i];
    page->kind = wire::FaultPage::SystemCall;
  }
  ::_exit(exitAfterFault);
}
} // namespace

volatile wire::FaultPage &faultPage() { return *page; }

void prepareThreadForFaults() {
  void *memory = ::mmap(nullptr, signalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return;
  stack_t stack{memory, 0, signalStackBytes};
  ::sigaltstack(&stack, nullptr);
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0)
    return;
  void *low = nullptr;
  size_t size = 0;
  ::pthread_attr_getstack(&attributes, &low, &size);
  ::pthread_attr_destroy(&attributes);
  stackLow = reinterpret_cast<uintptr_t>(low);
  stackHigh = stackLow + size;
}

bool installFaultHandlers() {
  void *memory = ::mmap(nullptr, sizeof(wire::FaultPage), PROT_READ | PROT_WRITE, MAP_SHARED, wire::FaultFd, 0);
  if (memory == MAP_FAILED)
    return false;
  page = static_cast<volatile wire::FaultPage *>(memory);
  ::close(wire::FaultFd);
  resolveCallNames();
  prepareThreadForFaults();
  struct sigaction fatal {};
  fatal.sa_sigaction = onFatalSignal;
  fatal.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&fatal.sa_mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGXFSZ})
    ::sigaction(signal, &fatal, nullptr);
  struct sigaction call = fatal;
  call.sa_sigaction = onSystemCall;
  ::sigaction(SIGSYS, &call, nullptr);
  return true;
}

} // namespace opsight::card
