// The embedded card: native artifacts on the processor's own cores. Kernels run on pool threads that may make no system
// call; blocks are handed out in ranges from one counter, lowest first (abi.h).
#include "card/worker/driver.h"
#include "card/cpu/abi.h"
#include "card/cpu/grid_meeting.h"
#include "card/cpu/grid_memory.h"
#include "card/cpu/library.h"
#include "card/worker/faults.h"
#include "card/worker/mapping.h"
#include "card/worker/peak.h"
#include "card/worker/pool.h"
#include "card/worker/sandbox.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>

namespace opsight::card {

namespace {

constexpr uint64_t sharedLimit = 1 << 20; // a core's second-level cache: what "shared memory" lives in
constexpr uint64_t threadStack = 4 * native::stackBytes;

std::string processorName() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name"))
      if (size_t colon = line.find(':'); colon != line.npos)
        return line.substr(line.find_first_not_of(' ', colon + 1));
  return "unknown processor";
}

/// Dynamic shared memory of one thread, between pages that may not be touched, its end flush with them.
class SharedBlock {
public:
  void *take(uint64_t bytes) {
    if (bytes == 0)
      return nullptr;
    uint64_t padded = (bytes + native::sharedAlignment - 1) / native::sharedAlignment * native::sharedAlignment;
    uint64_t region = (padded + 4095) / 4096 * 4096;
    if (region != region_) {
      release();
      void *base = ::mmap(nullptr, region + 2 * guardBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (base == MAP_FAILED)
        return nullptr;
      base_ = static_cast<std::byte *>(base);
      region_ = region;
      if (::mprotect(base_ + guardBytes, region, PROT_READ | PROT_WRITE) != 0)
        return nullptr;
    }
    return base_ + guardBytes + region - padded;
  }

private:
  void release() {
    if (base_)
      ::munmap(base_, region_ + 2 * guardBytes);
    base_ = nullptr;
    region_ = 0;
  }
  std::byte *base_ = nullptr;
  uint64_t region_ = 0;
};

/// Numbers 0 ... count - 1, each once: ascending for order 0, else as LaunchConfig::order asks.
struct Shuffle {
  uint64_t count, first = 0, stride = 1;
  Shuffle(uint64_t count, uint64_t order) : count(count) {
    if (order == 0 || count < 2)
      return;
    uint64_t mixed = (order + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9;
    first = (mixed >> 32) % count;
    stride = (mixed & 0xFFFFFFFF) % count;
    while (std::gcd(stride, count) != 1)
      ++stride;
  }
  uint64_t operator()(uint64_t i) const {
    return stride == 1 && first == 0 ? i : uint64_t(((unsigned __int128)i * stride + first) % count);
  }
};

struct CpuProgram {
  ProgramSource source;
  native::Entry entry = nullptr;
  const LibraryFunction *function = nullptr; // Format::Library
};

class CpuDriver final : public Driver {
public:
  CpuDriver()
      : pool_(threadStack, [this](unsigned) {
          prepareThreadForFaults();
          if (Status confined = confineKernelThread(); !confined)
            unconfined_.store(true);
        }) {
    shared_.resize(pool_.size());
  }

  Result<DeviceInfo> describe() override {
    DeviceInfo info;
    info.device = processorName();
    info.driver = "opsight " OPSIGHT_VERSION;
    info.vendorLibrary = libraryVersion();
    info.hasDouble = info.hasInt64Atomics = info.watchesBarriers = true;
    info.hasHalf = __builtin_cpu_supports("f16c") || __builtin_cpu_supports("avx512f");
    info.sharedBytes = sharedLimit;
    info.residentBytes = native::residentLimit;
    info.globalBytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    info.maxAllocation = info.globalBytes / 2;
    info.maxThreadsPerBlock = 1024;
    info.computeUnits = pool_.size();
    info.maxBlock = {1024, 1024, 64};
    info.maxGrid = {(1ull << 31) - 1, 65535, 65535};
    if (pool_.size() == 0)
      return noVerdict("no thread could be started for kernels");
    if (unconfined_.load() || !confineLoader())
      info.unconfined = "this machine's kernel takes no system call filter";
    return info;
  }

  Status load(uint32_t number, const ProgramSource &source) override {
    CpuProgram program{source};
    if (source.format == Format::Library) {
      program.function = findLibraryFunction(source.entry);
      if (!program.function)
        return unsupported("the worker has no library function '" + source.entry + "'");
    } else if (source.format == Format::Native || source.format == Format::Host) {
      if (Status loaded = loadNative(program); !loaded)
        return loaded;
    } else {
      return unsupported("the cpu card runs native code only");
    }
    programs_[number] = std::move(program);
    return {};
  }

  Status map(uint32_t buffer, const Mapped &memory) override {
    buffers_[buffer] = memory;
    return {};
  }
  void unmap(uint32_t buffer) override { buffers_.erase(buffer); }

  Result<double> launch(const wire::LaunchRequest &request, const std::function<void()> &begins) override {
    auto found = programs_.find(request.program);
    if (found == programs_.end() || found->second.source.parameters.size() != request.arguments.size())
      return internalError("a launch of an unknown program or with a wrong number of arguments");
    std::vector<const void *> arguments;
    std::vector<void *> pointers(request.arguments.size()); // fixed size: the arguments point into it
    for (size_t i = 0; i < request.arguments.size(); ++i) {
      const wire::WireArgument &argument = request.arguments[i];
      if (argument.kind == wire::WireArgument::Kind::Buffer) {
        auto buffer = buffers_.find(argument.buffer);
        if (buffer == buffers_.end())
          return internalError("a launch with an unknown buffer");
        pointers[i] = buffer->second.data;
        arguments.push_back(&pointers[i]);
      } else if (argument.kind == wire::WireArgument::Kind::Scalar) {
        arguments.push_back(argument.scalar.data());
      } else {
        arguments.push_back(nullptr);
      }
    }
    if (found->second.function) {
      begins();
      return found->second.function->run(arguments);
    }
    if (found->second.source.format == Format::Host)
      return launchHost(found->second, arguments, begins);
    if (found->second.source.residentBytes)
      return launchTogether(found->second, request.config, arguments, begins);
    return launchNative(found->second, request.config, arguments, begins);
  }

  Session::Peak measurePeak(uint32_t vectorFloats) override { return measurePeakOn(pool_, vectorFloats); }

private:
  Status loadNative(CpuProgram &program) {
    // The loader knows a library by its path, so each program keeps its descriptor, and with it a path of its own.
    int kept = ::dup(program.source.code);
    std::string path = "/proc/self/fd/" + std::to_string(kept);
    void *library = kept < 0 ? nullptr : ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return unsupported(std::string("the native code does not load: ") + (kept < 0 ? "too many programs" : ::dlerror()));
    program.entry = reinterpret_cast<native::Entry>(::dlsym(library, program.source.entry.c_str()));
    if (!program.entry)
      return unsupported("the native code has no entry '" + program.source.entry + "'");
    return {};
  }

  static native::Launch launchOf(const LaunchConfig &config, const std::vector<const void *> &arguments) {
    return {{config.grid.x, config.grid.y, config.grid.z},
            {config.block.x, config.block.y, config.block.z},
            arguments.data(),
            config.dynamicSharedBytes,
            config.order};
  }

  /// What is watched speaks through one memory, in one order.
  static bool isAlone(const CpuProgram &program) {
    return std::ranges::any_of(program.source.parameters, [](Parameter::Kind kind) {
      return kind == Parameter::Kind::Watch || kind == Parameter::Kind::Shadow;
    });
  }

  /// A launch that waits for its whole grid: each thread has one range of blocks from the start to the end.
  Result<double> launchTogether(const CpuProgram &program, const LaunchConfig &config,
                                const std::vector<const void *> &arguments, const std::function<void()> &begins) {
    uint64_t blocks = config.grid.count(), ranges = isAlone(program) ? 1 : std::min<uint64_t>(pool_.size(), blocks);
    void *memory = gridMemory_.take(program.source.residentBytes, config.dynamicSharedBytes, blocks);
    if (!memory)
      return unsupported("no memory for " + std::to_string(blocks) + " blocks that wait for the whole grid");
    native::GridMeeting meeting(static_cast<unsigned>(ranges));
    native::Launch launch = launchOf(config, arguments);
    launch.residentStride = native::guardedStride(program.source.residentBytes, config.dynamicSharedBytes);
    launch.meet = native::GridMeeting::meet;
    launch.meeting = &meeting;
    begins();
    return pool_.run([&](unsigned thread) {
      if (thread >= ranges)
        return;
      uint64_t begin = blocks * thread / ranges, end = blocks * (thread + 1) / ranges;
      program.entry(&launch, begin, end, static_cast<std::byte *>(memory) + begin * launch.residentStride);
      meeting.leave();
    });
  }

  Result<double> launchNative(const CpuProgram &program, const LaunchConfig &config,
                              const std::vector<const void *> &arguments, const std::function<void()> &begins) {
    std::vector<void *> shared;
    for (SharedBlock &block : shared_) {
      shared.push_back(block.take(config.dynamicSharedBytes));
      if (config.dynamicSharedBytes && !shared.back())
        return unsupported("no memory for " + std::to_string(config.dynamicSharedBytes) + " bytes of shared memory");
    }
    native::Launch launch = launchOf(config, arguments);
    uint64_t blocks = config.grid.count();
    // Small launches go block by block for balance; large ones in ranges, so that the counter costs nothing.
    uint64_t range = std::clamp<uint64_t>(blocks / (uint64_t(pool_.size()) * 64), 1, 256);
    Shuffle shuffle((blocks + range - 1) / range, config.order);
    std::atomic<uint64_t> next{0};
    begins();
    bool alone = isAlone(program);
    return pool_.run([&](unsigned thread) {
      if (alone && thread != 0)
        return;
      for (uint64_t turn; (turn = next.fetch_add(1, std::memory_order_relaxed)) < shuffle.count;) {
        uint64_t begin = shuffle(turn) * range;
        program.entry(&launch, begin, std::min(begin + range, blocks), shared[thread]);
      }
    });
  }

  /// On the thread that loads code: what is not a kernel may allocate, and the filter of this thread lets it.
  static Result<double> launchHost(const CpuProgram &program, const std::vector<const void *> &arguments,
                                   const std::function<void()> &begins) {
    native::Launch launch = launchOf({}, arguments);
    begins();
    auto start = std::chrono::steady_clock::now();
    program.entry(&launch, 0, 1, nullptr);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  std::atomic<bool> unconfined_{false};
  Pool pool_;
  std::vector<SharedBlock> shared_;
  native::GridMemory gridMemory_;
  std::map<uint32_t, CpuProgram> programs_;
  std::map<uint32_t, Mapped> buffers_;
};

} // namespace

Result<std::unique_ptr<Driver>> makeCpuDriver() { return std::make_unique<CpuDriver>(); }

} // namespace opsight::card
