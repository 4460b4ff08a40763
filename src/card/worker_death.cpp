// What became of a launch, in words for the engineer: out of the worker's reply or out of how it died.
#include "card/worker_session.h"
#include <cmath>
#include <csignal>
#include <sys/wait.h>

namespace opsight::card {

namespace {
using wire::guardBytes;

struct SignalName {
  int number;
  const char *name, *meaning;
};
constexpr SignalName signalNames[] = {
    {SIGSEGV, "SIGSEGV", "an access to memory that is not there"},
    {SIGBUS, "SIGBUS", "an access to memory that cannot be had"},
    {SIGFPE, "SIGFPE", "an integer division by zero or an overflowing one"},
    {SIGILL, "SIGILL", "an instruction that this processor does not know, or a trap"},
    {SIGTRAP, "SIGTRAP", "a trap"},
    {SIGABRT, "SIGABRT", "the code called abort"},
    {SIGKILL, "SIGKILL", "the system ended the process, most likely for want of memory"},
    {SIGSYS, "SIGSYS", "a forbidden system call"},
    {SIGXFSZ, "SIGXFSZ", "a file grew too large"},
};

std::string describeSignal(int number) {
  for (const SignalName &row : signalNames)
    if (row.number == number)
      return std::string(row.name) + ", " + row.meaning;
  return "signal " + std::to_string(number);
}

std::string hexadecimal(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

/// "64 bytes past the end of buffer 2 'out' (4096 bytes)", when the address is in that buffer's guard.
std::string placeBeside(const BufferTable::Entry &entry, uint64_t address, const std::string &name) {
  uint64_t begin = entry.workerAddress, end = begin + entry.layout.bytes;
  std::string what = name + " (" + std::to_string(entry.layout.bytes) + " bytes)";
  if (address >= end && address - end < guardBytes)
    return std::to_string(address - end) + " bytes past the end of " + what;
  if (address < begin && begin - address < guardBytes)
    return std::to_string(begin - address) + " bytes before the start of " + what;
  return {};
}
} // namespace

/// Drivers may compile at the first launch, and then a slow one must not be taken for a kernel that hangs.
Error WorkerSession::stillCompiling() const {
  return Error{ErrorKind::NoVerdict,
               "the driver of card '" + setup_.card + "' (" + info_.driver + ") was still building the kernel after " +
                   std::to_string(setup_.limits.buildTimeout.count()) + " ms",
               {}, "run again on a quieter machine, or give the driver a smaller kernel"};
}

Result<Launched> WorkerSession::explain(const Reply &reply, const wire::LaunchRequest &request, const Program &program) {
  using End = Launched::End;
  if (reply.answer == WorkerProcess::Answer::Ok && reply.refused) {
    if (reply.error.kind == ErrorKind::Unsupported)
      return Launched{.end = End::Refused, .detail = reply.error.what};
    // The driver is in a state that nobody knows: the next launch gets a new worker.
    process_.reset();
    if (reply.error.kind == ErrorKind::Internal)
      return std::unexpected(reply.error);
    return Launched{.end = End::Crash, .detail = "the driver failed: " + reply.error.what};
  }
  if (reply.answer == WorkerProcess::Answer::Ok) {
    wire::Reader reader(reply.payload);
    auto seconds = reader.get<double>();
    if (reader.finished() && std::isfinite(seconds) && seconds >= 0)
      return Launched{.end = End::Done, .seconds = seconds};
  }
  auto death = process_->bury();
  process_.reset();
  if (reply.answer == WorkerProcess::Answer::Late && !death.page.running)
    return std::unexpected(stillCompiling());
  if (reply.answer == WorkerProcess::Answer::Late)
    return Launched{.end = End::Hang,
                    .detail = "still running after " + std::to_string(setup_.limits.runTimeout.count()) + " ms"};
  if (reply.answer != WorkerProcess::Answer::Dead)
    return Launched{.end = End::Crash, .detail = "the kernel overwrote the worker's own memory: its answer is garbled"};
  if (death.page.kind == wire::FaultPage::SystemCall)
    return Launched{.end = End::Sandbox, .detail = "the code tried the system call " + printable(death.page.systemCall)};
  if (death.page.kind == wire::FaultPage::Signal) {
    Launched launched = explainFault(death.page, request, program);
    // A kernel may die before the worker noticed that it runs, so only a driver that says something is suspected.
    if (!death.page.running && !death.stderrTail.empty())
      launched.detail += "; the driver said: " + death.stderrTail;
    return launched;
  }
#ifdef OPSIGHT_SANITIZE // device code is not instrumented: what a sanitizer finds is a fault of ours, never the kernel's
  constexpr int sanitizerStatus = 1;
  if (WIFEXITED(death.status) && WEXITSTATUS(death.status) == sanitizerStatus)
    return internalError("a sanitizer ended the worker: " + death.stderrTail);
#endif
  std::string how = WIFSIGNALED(death.status) ? describeSignal(WTERMSIG(death.status))
                                              : "the process ended itself with status " + std::to_string(WEXITSTATUS(death.status));
  if (!death.stderrTail.empty())
    how += "; it said: " + death.stderrTail;
  bool forbidden = WIFSIGNALED(death.status) && WTERMSIG(death.status) == SIGSYS;
  return Launched{.end = forbidden ? End::Sandbox : End::Crash, .detail = how};
}

Launched WorkerSession::explainFault(const wire::FaultPage &page, const wire::LaunchRequest &request,
                                     const Program &program) {
  Launched launched{.end = Launched::End::Crash, .detail = describeSignal(page.signal)};
  if (page.signal != SIGSEGV && page.signal != SIGBUS)
    return launched;
  if (page.isStack) {
    launched.detail = "SIGSEGV, the stack overflowed: the kernel recurses or its local arrays are too large";
    return launched;
  }
  launched.outOfBounds = true;
  std::string access = page.isWrite ? "write" : "read";
  for (size_t i = 0; i < request.arguments.size(); ++i) {
    auto entry = buffers_->live.find(request.arguments[i].buffer);
    if (request.arguments[i].kind != wire::WireArgument::Kind::Buffer || entry == buffers_->live.end())
      continue;
    const std::string &parameter = program.artifact.manifest.parameters[i].name;
    std::string name = parameter.empty() ? "buffer " + std::to_string(i) : "'" + parameter + "'";
    if (std::string place = placeBeside(entry->second, page.address, name); !place.empty()) {
      launched.detail = access + " " + place;
      return launched;
    }
  }
  // An address that no pointer can hold raises a general protection fault, of which the processor tells no address.
  launched.detail = page.code == SI_KERNEL && page.address == 0
                        ? "SIGSEGV, an access to an impossible address or a misaligned vector access"
                        : "SIGSEGV, " + access + " of address " + hexadecimal(page.address) + ", in no buffer";
  return launched;
}

} // namespace opsight::card
