// The worker must not outlive the tool. A pipe of which only the tool holds the writing end tells it: when the tool
// dies, however it dies, the worker's watchdog sees the end of the pipe and ends the worker's whole process group.
// (PR_SET_PDEATHSIG would fire when the *thread* that started the worker ends.)
#include "card/worker_process.h"
#include "base/file.h"
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <mutex>
#include <poll.h>
#include <set>
#include <spawn.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace opsight::card {

namespace {

std::filesystem::path workerProgram() {
  // Tests live beside the worker or in a folder next to it.
  for (const char *relative : {"opsight-worker", "bin/opsight-worker", "../bin/opsight-worker"})
    if (auto path = programFolder() / relative; std::filesystem::exists(path))
      return path;
  return programFolder() / "opsight-worker";
}

std::vector<std::string> environmentOf(const WorkerSetup &setup) {
  std::vector<std::string> entries;
  for (char **e = environ; *e; ++e) {
    std::string entry = *e;
    if (!setup.environment.contains(entry.substr(0, entry.find('='))))
      entries.push_back(std::move(entry));
  }
  for (const auto &[name, value] : setup.environment)
    entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char *> pointersTo(std::vector<std::string> &entries) {
  std::vector<char *> pointers;
  for (std::string &entry : entries)
    pointers.push_back(entry.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct FdPair {
  int ours = -1, theirs = -1;
};

/// Descriptors 0..9 are kept free for the worker's fixed numbers: a dup2 onto a source of a later dup2 would lose it.
int moveUp(int fd) {
  int high = ::fcntl(fd, F_DUPFD_CLOEXEC, 10);
  ::close(fd);
  return high;
}

/// posix_spawn with the worker's descriptors in place, in a process group of its own, so that Ctrl-C reaches the tool
/// alone and the tool ends the worker.
int spawn(const WorkerSetup &setup, int socket, int lifeline, int page, int log, pid_t &pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log, 1);
  posix_spawn_file_actions_adddup2(&actions, log, 2);
  posix_spawn_file_actions_adddup2(&actions, socket, wire::SocketFd);
  posix_spawn_file_actions_adddup2(&actions, lifeline, wire::LifelineFd);
  posix_spawn_file_actions_adddup2(&actions, page, wire::FaultFd);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words{"opsight-worker"}, entries = environmentOf(setup);
  std::vector<char *> arguments = pointersTo(words), environment = pointersTo(entries);
  int failed = ::posix_spawn(&pid, workerProgram().c_str(), &actions, &attributes, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

} // namespace

std::string printable(std::string_view text) {
  std::string clean;
  for (char c : text.substr(0, 4000))
    clean += (static_cast<unsigned char>(c) >= ' ' && c != 0x7F) || c == '\n' || c == '\t' ? c : '?';
  return clean;
}

namespace {
struct LiveFolders {
  std::mutex guard;
  std::set<std::filesystem::path> paths;
};
/// Never destroyed: a signal may come while the process ends.
LiveFolders &liveFolders() {
  static auto *folders = new LiveFolders;
  return *folders;
}

/// Waits for ever once the tool is told to end.
void waitIfHeld() { std::lock_guard lock(liveFolders().guard); }
} // namespace

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::create() {
  std::error_code failed;
  auto base = std::filesystem::temp_directory_path(failed);
  std::string pattern = ((failed ? "/tmp" : base) / "opsight-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    return noVerdict("cannot make a temporary folder in '" + pattern + "': " + std::strerror(errno),
                     "set TMPDIR to a folder that can be written");
  auto folder = std::make_unique<TemporaryFolder>();
  folder->path_ = pattern;
  std::lock_guard lock(liveFolders().guard);
  liveFolders().paths.insert(folder->path_);
  return folder;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (path_.empty())
    return;
  std::filesystem::remove_all(path_, ignored);
  std::lock_guard lock(liveFolders().guard);
  liveFolders().paths.erase(path_);
}

void holdWorkers() { liveFolders().guard.lock(); }

void removeTemporaryFolders() {
  std::error_code ignored;
  for (const std::filesystem::path &path : liveFolders().paths)
    std::filesystem::remove_all(path, ignored);
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const WorkerSetup &setup) {
  waitIfHeld();
  std::unique_ptr<WorkerProcess> process(new WorkerProcess);
  auto page = SharedMemory::create("opsight-fault", 4096);
  if (!page)
    return std::unexpected(page.error());
  process->page_ = std::move(*page);
  int sockets[2], pipes[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return noVerdict(std::string("cannot make a socket pair: ") + std::strerror(errno));
  process->socket_ = sockets[0];
  if (::pipe2(pipes, O_CLOEXEC) != 0) {
    ::close(sockets[1]);
    return noVerdict(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  process->lifeline_ = pipes[1];
  process->log_ = moveUp(::memfd_create("opsight-worker-log", MFD_CLOEXEC));
  int socket = moveUp(sockets[1]), lifeline = moveUp(pipes[0]), fault = ::fcntl(process->page_->fd(), F_DUPFD_CLOEXEC, 10);
  int failed = spawn(setup, socket, lifeline, fault, process->log_, process->pid_);
  for (int fd : {socket, lifeline, fault})
    ::close(fd);
  if (failed) {
    process->pid_ = -1;
    return internalError("cannot start " + workerProgram().string() + ": " + std::strerror(failed),
                         "build the target opsight-worker");
  }
  return process;
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0)
    bury();
  for (int fd : {socket_, lifeline_, log_})
    if (fd >= 0)
      ::close(fd);
}

WorkerProcess::Answer WorkerProcess::ask(wire::Type type, std::string_view payload, int fd,
                                         std::chrono::milliseconds patience,
                                         std::optional<std::chrono::milliseconds> running, std::string &reply) {
  auto *page = reinterpret_cast<volatile wire::FaultPage *>(page_->bytes().data());
  page->running = 0;
  ++sequence_;
  if (!wire::send(socket_, type, sequence_, payload, fd))
    return Answer::Dead;
  auto deadline = Clock::now() + patience;
  bool waitsForStart = running.has_value();
  while (true) {
    if (waitsForStart && page->running && page->sequence == sequence_) {
      waitsForStart = false;
      deadline = Clock::now() + *running;
    }
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0)
      return Answer::Late;
    // While waiting for device code to start there is no event for it: look every 20 ms.
    int wait = static_cast<int>(std::min<int64_t>(left.count(), waitsForStart ? 20 : 1'000'000));
    pollfd event{socket_, POLLIN, 0};
    if (::poll(&event, 1, wait) <= 0)
      continue;
    wire::Datagram datagram;
    switch (wire::receive(socket_, datagram)) {
    case wire::Received::Closed:
      return Answer::Dead;
    case wire::Received::Malformed:
      return Answer::Garbled;
    case wire::Received::Datagram:
      break;
    }
    if (datagram.fd >= 0)
      ::close(datagram.fd);
    if (datagram.type != type || datagram.sequence != sequence_)
      return Answer::Garbled;
    reply = std::move(datagram.payload);
    return Answer::Ok;
  }
}

WorkerProcess::Death WorkerProcess::bury() {
  waitIfHeld();
  Death death;
  // One that died by itself gets a moment to be waited for with its own status before the whole group is killed.
  siginfo_t info{};
  for (int i = 0; i < 20; ++i) {
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_)
      break;
    pollfd event{socket_, 0, 0};
    if (i == 0 && ::poll(&event, 1, 0) == 0)
      break; // it still holds its end: it is alive and to be killed
    ::usleep(1000);
  }
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, &death.status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  std::memcpy(&death.page, page_->bytes().data(), sizeof death.page);
  death.page.systemCall[sizeof death.page.systemCall - 1] = 0;
  death.stderrTail = stderrTail();
  return death;
}

std::string WorkerProcess::stderrTail() const {
  off_t size = ::lseek(log_, 0, SEEK_END);
  if (size <= 0)
    return {};
  std::string tail(std::min<off_t>(size, 2000), '\0');
  ssize_t n = ::pread(log_, tail.data(), tail.size(), size - static_cast<off_t>(tail.size()));
  tail.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return printable(tail);
}

std::optional<double> WorkerProcess::processorSeconds() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  size_t name = text.rfind(')'); // which may itself hold anything
  if (name == std::string::npos)
    return std::nullopt;
  std::istringstream fields(text.substr(name + 1));
  std::string skipped;
  double user = 0, system = 0;
  for (int field = 3; field < 14; ++field)
    fields >> skipped;
  if (!(fields >> user >> system))
    return std::nullopt;
  return (user + system) / double(::sysconf(_SC_CLK_TCK));
}

} // namespace opsight::card
