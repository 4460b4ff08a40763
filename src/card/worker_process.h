// The life of one worker process: started, asked, killed in time, and its death explained.
#pragma once
#include "card/shared_memory.h"
#include "card/wire.h"
#include <chrono>
#include <filesystem>
#include <map>
#include <sys/types.h>

namespace opsight::card {

using Clock = std::chrono::steady_clock;

/// What the process is started with; the same at every restart.
struct WorkerSetup {
  std::string driver; // of the profile: "cpu", "opencl"
  std::string card;
  std::map<std::string, std::string> environment; // beside the tool's own
  Limits limits;
  uint32_t vectorFloats = 0; // Profile::vectorFloats
};

/// A folder of our own, removed with everything in it.
class TemporaryFolder {
public:
  static Result<std::unique_ptr<TemporaryFolder>> create();
  ~TemporaryFolder();
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// For a tool that is told to end and runs no destructors. From the first call on, whoever starts a worker, mourns one
/// or makes a folder waits for ever, so that nobody takes the killed workers for a result; then the workers may be
/// killed, and the second call removes every temporary folder.
void holdWorkers();
void removeTemporaryFolders();

class WorkerProcess {
public:
  static Result<std::unique_ptr<WorkerProcess>> start(const WorkerSetup &setup);
  /// Kills the worker and its children.
  ~WorkerProcess();

  enum class Answer { Ok, Dead, Late, Garbled };
  /// Sends one request and waits for its reply. The deadline starts anew, with `running`, once device code runs.
  Answer ask(wire::Type type, std::string_view payload, int fd, std::chrono::milliseconds patience,
             std::optional<std::chrono::milliseconds> running, std::string &reply);

  /// Waits for a dead or dying process and takes its last words. `status` is waitpid's, -1 where unknown.
  struct Death {
    wire::FaultPage page{};
    int status = -1;
    std::string stderrTail;
  };
  Death bury();
  /// Of all its threads, so far; none where the system does not tell.
  std::optional<double> processorSeconds() const;

private:
  WorkerProcess() = default;
  std::string stderrTail() const;

  pid_t pid_ = -1;
  int socket_ = -1, lifeline_ = -1;
  uint32_t sequence_ = 0;
  std::unique_ptr<SharedMemory> page_;
  int log_ = -1;
};

/// Text from outside for people: control characters out, at most 4000 bytes.
std::string printable(std::string_view text);

} // namespace opsight::card
