// Session over a worker process: keeps what must survive the worker (programs, buffers) and gives it to each new one
// when it is first needed there.
#pragma once
#include "card/profile.h"
#include "card/session.h"
#include "card/watch.h"
#include "card/worker_process.h"
#include <map>

namespace opsight::card {

/// Buffers of a session by number; outlives it when a buffer does.
struct BufferTable {
  struct Entry {
    SharedMemory *memory = nullptr;
    GuardedLayout layout;
    uint64_t mappedIn = 0;     // generation of the worker that has it; 0: none
    uint64_t workerAddress = 0; // of the first byte there
    const Buffer *buffer = nullptr;
  };
  std::map<uint32_t, Entry> live;
  std::vector<uint32_t> released; // to be unmapped in the worker
  uint32_t next = 1;
};

class WorkerSession final : public Session {
public:
  static Result<std::unique_ptr<Session>> open(const Profile &profile, const Limits &limits);

  const DeviceInfo &info() const override { return info_; }
  Result<ProgramId> load(const Artifact &artifact) override;
  Result<std::unique_ptr<Buffer>> createBuffer(uint64_t bytes, uint32_t alignment) override;
  Result<Launched> launch(ProgramId program, const LaunchConfig &config, std::span<const Argument> arguments) override;
  Result<Launched> watch(ProgramId program, const LaunchConfig &config, std::span<const Argument> arguments,
                         std::span<Observer *const> observers) override;
  Result<CheckedLaunch> check(ProgramId program, const LaunchConfig &config, std::span<const Argument> arguments) override;
  Result<Peak> measurePeak() override;
  std::optional<double> processorSeconds() const override {
    return process_ ? process_->processorSeconds() : std::nullopt;
  }

private:
  struct Program {
    Artifact artifact;
    uint64_t loadedIn = 0;
    std::vector<std::unique_ptr<Buffer>> own; // beside each parameter: of Symbol and Message, else null
  };
  /// A reply whose outcome was Ok, or why there is none.
  struct Reply {
    WorkerProcess::Answer answer{};
    std::string payload; // after the outcome
    Error error{};       // answer Ok, but the worker refused
    bool refused = false;
  };

  explicit WorkerSession(WorkerSetup setup) : setup_(std::move(setup)) {}
  Status ensureWorker();
  Status ensureLoaded(ProgramId id);
  Status ensureMapped(uint32_t buffer);
  void unmapReleased();
  Status fillOwnBuffers(Program &program);
  Result<wire::LaunchRequest> request(ProgramId id, const LaunchConfig &config, std::span<const Argument> arguments);
  Reply ask(wire::Type type, std::string_view payload, int fd, std::chrono::milliseconds patience,
            std::optional<std::chrono::milliseconds> running = std::nullopt);
  Result<std::optional<wire::LaunchRequest>> prepare(ProgramId id, const LaunchConfig &config, std::span<const Argument> arguments,
                                                     Launched &refused);
  Result<Launched> run(ProgramId id, const wire::LaunchRequest &request);
  Result<std::span<std::byte>> shadowOf(Program &program, size_t parameter, uint64_t bytes);
  const Buffer *bufferOf(const wire::LaunchRequest &request, const Program &program, const Region &region) const;
  std::vector<Region> regionsOf(const wire::LaunchRequest &request, const Program &program);
  Result<Launched> explain(const Reply &reply, const wire::LaunchRequest &request, const Program &program);
  Launched explainFault(const wire::FaultPage &page, const wire::LaunchRequest &request, const Program &program);
  Error stillCompiling() const;
  void collectMessages(Launched &launched, const Program &program);

  WorkerSetup setup_;
  DeviceInfo info_;
  std::unique_ptr<TemporaryFolder> folder_;
  std::unique_ptr<WorkerProcess> process_;
  uint64_t generation_ = 0; // counts the workers
  std::shared_ptr<BufferTable> buffers_ = std::make_shared<BufferTable>();
  std::vector<Program> programs_;
};

} // namespace opsight::card
