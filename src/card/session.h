// One worker process that runs device code for a card, seen from the tool. Everything untrusted happens behind it:
// a kernel that hangs, crashes or scribbles ends the worker, not the tool.
//
// Buffers are memory that both processes map, so inputs are filled and outputs read without copies. In the worker each
// buffer lies between pages that may not be touched, and `lead`/`tail` sentinel bytes fill what is left of its pages.
#pragma once
#include "base/error.h"
#include "card/artifact.h"
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace opsight::card {

struct Limits {
  std::chrono::milliseconds runTimeout{30'000};   // of one launch
  std::chrono::milliseconds buildTimeout{60'000}; // of one driver build
  uint64_t memoryBytes = 16ull << 30;             // address space of the worker
};

/// What the driver says of the device, and what was measured on it.
struct DeviceInfo {
  std::string card;    // the card's name, "cpu", "opencl:pocl"
  std::string device;  // the processor's name as the driver gives it
  std::string driver;  // "opsight 0.1", "PoCL 3.1"
  bool takesIl = false, hasDouble = false, hasHalf = false, hasInt64Atomics = false;
  bool watchesBarriers = false; // threads that do not meet end the launch by End::Barrier, always
  std::vector<uint32_t> subgroupWidths{}; // empty: no subgroups
  uint64_t sharedBytes = 0, globalBytes = 0, maxAllocation = 0;
  uint64_t residentBytes = 0; // for all blocks of a launch together that waits for the whole grid
  uint32_t maxThreadsPerBlock = 0, computeUnits = 0;
  std::array<uint64_t, 3> maxBlock{}, maxGrid{};
  std::string vendorLibrary{}; // what Format::Library programs call, "oneDNN 2.6.3"; empty where there is none
  std::string unconfined{}; // why system calls of kernels are not watched here; empty where they are
};

using ProgramId = uint32_t;

/// A buffer shared with the worker. `bytes()` is what kernels may use; it starts at an address that differs from
/// buffer to buffer and is aligned to `alignment`.
class Buffer {
public:
  virtual ~Buffer() = default;
  virtual std::span<std::byte> bytes() = 0;
  /// Fills the sentinel around the buffer anew. Call before a run.
  virtual void arm() = 0;
  /// Byte offset, from the buffer's start, of the first sentinel byte that changed (negative: before it), if any.
  virtual std::optional<int64_t> firstScribble() const = 0;
  virtual uint32_t id() const = 0;
  /// False: its content means nothing until a kernel has written it. Only those who watch look at this.
  bool isInitialised = true;
};

/// An argument of a launch, in the order of Manifest::parameters without those of kind DynamicShared, Symbol and
/// Message, which the session supplies.
using Argument = std::variant<const Buffer *, std::vector<std::byte>>;

struct LaunchConfig {
  Dim3 grid{}, block{};
  uint64_t dynamicSharedBytes = 0;
  /// The order in which a card that runs a block's warps one after another takes them and the blocks: 0 ascending, else
  /// one of many that the number stands for. No right kernel's output depends on it. Other cards ignore it.
  uint64_t order = 0;
};

/// How one launch ended. Anything but Done voids its output and its time.
struct Launched {
  enum class End {
    Done,
    Crash,   // a signal; `detail` says which and, where known, which buffer was overrun by how much
    Hang,    // still running at the timeout
    Refused, // over a limit of the card, or the driver said no; the output is untouched
    Assert,  // a device-side assert failed; `detail` is its message
    Barrier, // threads of a block did not meet at a barrier; `detail` says at which
    Sandbox, // the code tried a system call
  };
  End end = End::Done;
  std::string detail{};
  bool outOfBounds = false;   // the crash was an access outside a buffer
  double seconds = 0;         // of the kernel alone, driver's queue to finish
  std::string printed{};      // what device printf wrote
};

/// How a launch of code under checks went.
struct CheckedLaunch {
  Launched launched;
  bool isClean = false; // it ended well, and observers would find nothing; where not, they may
  std::string why{};    // it is not clean
  std::vector<const Buffer *> filled{}; // of those that were not initialised, what is written from end to end now
};

class Observer; // watch.h

class Session {
public:
  virtual ~Session() = default;
  /// Starts a worker for `card` ("cpu", "cpu:avx2", "opencl:pocl", "opencl:intel", or "opencl" for the first that has a
  /// device). NoVerdict when there is no device, User when the card is unknown.
  static Result<std::unique_ptr<Session>> open(const std::string &card, const Limits &limits);

  virtual const DeviceInfo &info() const = 0;
  /// Hands the code to the driver. Unsupported with the driver's words when it refuses it.
  virtual Result<ProgramId> load(const Artifact &artifact) = 0;
  /// `alignment` is a power of two; memory is poisoned with 0xFF (NaN in every float type).
  virtual Result<std::unique_ptr<Buffer>> createBuffer(uint64_t bytes, uint32_t alignment = 64) = 0;
  /// Checks the launch against the card's limits, runs it and waits. An Error means the session itself is unusable.
  /// After Crash, Hang, Assert or Sandbox the worker is started anew by itself, programs and buffers intact.
  virtual Result<Launched> launch(ProgramId program, const LaunchConfig &config, std::span<const Argument> arguments) = 0;
  /// The same of a program that was lowered to be watched: warp after warp on one core, seen by `observers`.
  virtual Result<Launched> watch(ProgramId program, const LaunchConfig &config, std::span<const Argument> arguments,
                                 std::span<Observer *const> observers);
  /// The same of a program that was lowered to be checked: in the same order, at a fraction of the cost.
  virtual Result<CheckedLaunch> check(ProgramId program, const LaunchConfig &config, std::span<const Argument> arguments);
  /// Peak single-precision rate in GFLOP/s, with the registers that the card's profile allows, and read bandwidth in
  /// GB/s of the device's processor, measured now (about 0.1 s).
  struct Peak {
    double gflopsFp32 = 0, readGbps = 0;
  };
  virtual Result<Peak> measurePeak() = 0;
  /// Seconds of processors that the worker has used so far, all its threads together; none where that is not known.
  virtual std::optional<double> processorSeconds() const { return std::nullopt; }
};

} // namespace opsight::card
