#include "card/worker/sandbox.h"
#include "card/wire.h"
#include <csignal>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace opsight::card {

namespace {

scmp_arg_cmp equals(unsigned argument, scmp_datum_t value) { return {argument, SCMP_CMP_EQ, value, 0}; }
scmp_arg_cmp differs(unsigned argument, scmp_datum_t value) { return {argument, SCMP_CMP_NE, value, 0}; }
scmp_arg_cmp masked(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

/// One libseccomp filter under construction; the first failure is kept.
class Filter {
public:
  explicit Filter(uint32_t otherwise) : context_(seccomp_init(otherwise)) {}
  ~Filter() {
    if (context_)
      seccomp_release(context_);
  }
  Filter(const Filter &) = delete;
  Filter &operator=(const Filter &) = delete;

  void rule(uint32_t action, int call, std::vector<scmp_arg_cmp> conditions = {}) {
    if (call < 0)
      return; // does not exist on this processor
    keep(seccomp_rule_add_array(context_, action, call, static_cast<unsigned>(conditions.size()), conditions.data()));
  }
  void rules(uint32_t action, std::initializer_list<int> calls) {
    for (int call : calls)
      rule(action, call);
  }
  Status load() {
    if (context_)
      keep(seccomp_load(context_));
    if (!context_ || failed_)
      return internalError(std::string("the kernel of this machine takes no system call filter: ") +
                           std::strerror(failed_ ? failed_ : ENOMEM));
    return {};
  }

private:
  void keep(int result) {
    if (result < 0 && !failed_)
      failed_ = -result;
  }
  scmp_filter_ctx context_;
  int failed_ = 0;
};

/// What abort() and the fault handlers need.
void allowDying(Filter &filter) {
  filter.rules(SCMP_ACT_ALLOW, {SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask),
                                SCMP_SYS(getpid), SCMP_SYS(gettid)});
  filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(tgkill),
              {equals(0, static_cast<scmp_datum_t>(::getpid())), equals(2, SIGABRT)});
}

void allowWaiting(Filter &filter) {
  filter.rules(SCMP_ACT_ALLOW, {SCMP_SYS(futex), SCMP_SYS(sched_yield), SCMP_SYS(clock_gettime)});
}

/// Threads yes, processes no: clone3 hides its flags behind a pointer, so glibc is sent back to clone.
void allowThreads(Filter &filter) {
  filter.rule(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
  filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(clone), {masked(0, CLONE_THREAD, CLONE_THREAD)});
  filter.rules(SCMP_ACT_ALLOW, {SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(sigaltstack),
                                SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_setaffinity), SCMP_SYS(membarrier)});
  filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(prctl), {equals(0, PR_SET_NAME)});
}

void allowMemory(Filter &filter) {
  filter.rules(SCMP_ACT_ALLOW, {SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mprotect), SCMP_SYS(mremap),
                                SCMP_SYS(madvise), SCMP_SYS(brk)});
}

void allowReadingFiles(Filter &filter) {
  constexpr scmp_datum_t writing = O_ACCMODE | O_CREAT | O_TRUNC;
  filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(openat), {masked(2, writing, O_RDONLY)});
  filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(open), {masked(1, writing, O_RDONLY)});
  filter.rules(SCMP_ACT_ALLOW,
               {SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(dup), SCMP_SYS(fstat), SCMP_SYS(stat),
                SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(readlink),
                SCMP_SYS(readlinkat), SCMP_SYS(getdents64), SCMP_SYS(getcwd), SCMP_SYS(getrandom), SCMP_SYS(uname),
                SCMP_SYS(sysinfo), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday)});
  filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), {equals(2, 0)});
  filter.rule(SCMP_ACT_ALLOW, SCMP_SYS(write), {equals(0, STDERR_FILENO)});
}

void allowProtocol(Filter &filter) {
  for (int call : {SCMP_SYS(sendmsg), SCMP_SYS(recvmsg)})
    filter.rule(SCMP_ACT_ALLOW, call, {equals(0, wire::SocketFd)});
}

} // namespace

Status confineKernelThread() {
  Filter filter(SCMP_ACT_TRAP);
  allowDying(filter);
  allowWaiting(filter);
  return filter.load();
}

Status confineLoader() {
  Filter filter(SCMP_ACT_TRAP);
  allowDying(filter);
  allowWaiting(filter);
  allowThreads(filter);
  allowMemory(filter);
  allowReadingFiles(filter);
  allowProtocol(filter);
  return filter.load();
}

Status confineOpenClDriver() {
  Filter filter(SCMP_ACT_ALLOW);
  filter.rule(SCMP_ACT_TRAP, SCMP_SYS(socket), {differs(0, AF_UNIX)});
  filter.rules(SCMP_ACT_TRAP, {SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
                               SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot),
                               SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(bpf), SCMP_SYS(perf_event_open),
                               SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module),
                               SCMP_SYS(kexec_load), SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff),
                               SCMP_SYS(add_key), SCMP_SYS(keyctl), SCMP_SYS(request_key), SCMP_SYS(userfaultfd),
                               SCMP_SYS(io_uring_setup), SCMP_SYS(setpgid), SCMP_SYS(setsid)});
  // A linker that the driver spawned may still abort itself; only the worker's own number is known here.
  auto self = static_cast<scmp_datum_t>(::getpid());
  for (int call : {SCMP_SYS(kill), SCMP_SYS(tgkill), SCMP_SYS(pidfd_send_signal)})
    filter.rule(SCMP_ACT_ERRNO(EPERM), call, {differs(0, self)});
  filter.rule(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tkill));
  return filter.load();
}

} // namespace opsight::card
