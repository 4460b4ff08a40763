// fuzz_warp FIRST COUNT [SETTINGS [TRIES]]: compares the warp machine with the interpreter on the kernels of COUNT
// seeds from FIRST on, each compiled in SETTINGS of the 64 ways (3 unless told), others for each seed. The first kernel
// on which they differ is printed and made small by at most TRIES deletions (400 unless told). Ends with 1 if there was
// one.
#include "fuzz/reduce.h"
#include "fuzz/trial.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace opsight::fuzz {
namespace {

constexpr unsigned batch = 16; // kernels that Clang reads at once: most of its time goes into the headers
constexpr unsigned secondsASetting = 20; // of the processor: the machine may be busy with other things

/// What a child tells its parent, in memory of both: the child may end at any moment.
struct Shared {
  uint64_t seed;
  unsigned setting, tried, compiled, different, meaningless;
  uint64_t firstDifferent;
  unsigned differentSetting;
};

Shared &shared() {
  static auto *memory =
      static_cast<Shared *>(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *memory;
}

/// Runs `work` in a child and returns how it ended, as waitpid() says. A fault of the machine may take the process
/// along.
int isolated(const std::function<int()> &work) {
  std::fflush(stdout);
  pid_t child = ::fork();
  if (child == 0) {
    rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

/// Ends the process after so many seconds of work; 0: never. What hangs here spins, for nothing waits.
void endAfter(unsigned seconds) {
  itimerval limit{{0, 0}, {seconds, 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

std::vector<unsigned> settingsOf(uint64_t seed, unsigned count) {
  std::vector<unsigned> result;
  for (unsigned i = 0; i < count; ++i)
    result.push_back(unsigned((seed * 7 + i * 5) % settings));
  return result;
}

void noteDifference(uint64_t seed, unsigned setting) {
  if (shared().different++ == 0) {
    shared().firstDifferent = seed;
    shared().differentSetting = setting;
  }
}

/// The kernels [first, last), in a child.
int tryAll(uint64_t first, uint64_t last, unsigned count) {
  for (uint64_t from = first; from < last; from += batch) {
    shared().seed = from;
    std::vector<Kernel> kernels;
    for (uint64_t seed = from; seed < std::min(from + batch, last); ++seed)
      kernels.push_back(write(seed));
    auto source = Source::parse(kernels);
    if (!source) {
      fmt::print("seeds {} to {} are not CUDA: {}\n", from, kernels.back().seed, describe(source.error()));
      shared().different += 1;
      shared().seed = kernels.back().seed;
      return 1;
    }
    for (size_t i = 0; i < kernels.size(); ++i) {
      endAfter(secondsASetting);
      shared().seed = kernels[i].seed;
      Outcome outcome = source->run(kernels[i], i, settingsOf(kernels[i].seed, count), [](unsigned setting) {
        endAfter(secondsASetting);
        shared().setting = setting;
        ++shared().compiled;
      });
      ++shared().tried;
      shared().meaningless += outcome.kind == Outcome::NoMeaning;
      if (outcome.kind == Outcome::Different)
        noteDifference(kernels[i].seed, shared().setting);
      if (outcome.kind != Outcome::Same)
        fmt::print("seed {}: {}{}\n", kernels[i].seed, outcome.kind == Outcome::NoMeaning ? "not compared: " : "",
                   outcome.detail);
    }
    endAfter(0);
  }
  return 0;
}

/// Whether the machine, compiled as `setting` says, still differs; a crash counts, text that does not compile does not.
bool fails(const Kernel &kernel, unsigned setting) {
  int status = isolated([&] {
    endAfter(secondsASetting);
    auto source = Source::parse({&kernel, 1});
    bool inMachine = false;
    Outcome outcome = source ? source->run(kernel, 0, {&setting, 1}, [&](unsigned) { inMachine = true; }) : Outcome{};
    return outcome.kind == Outcome::Different ? 1 : 0;
  });
  return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void show(uint64_t seed, unsigned setting, unsigned tries) {
  Kernel kernel = write(seed);
  fmt::print("\n{}, {}\n{}", kernel.launch(), settingOf(setting).name(), kernel.source("kernel"));
  Kernel small = reduce(
      kernel, [&](const Kernel &candidate) { return fails(candidate, setting); }, tries);
  fmt::print("\nmade small:\n{}\n", small.source("kernel"));
  isolated([&] {
    auto source = Source::parse({&small, 1});
    if (source)
      fmt::print("{}\n", source->run(small, 0, {&setting, 1}, [](unsigned) {}).detail);
    std::fflush(stdout);
    return 0;
  });
}

int run(uint64_t first, uint64_t count, unsigned settingCount, unsigned tries) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0); // children may be killed
  shared() = {};                            // before the first child
  ::setenv("OPSIGHT_ROOT", OPSIGHT_SOURCE_DIR, 0);
  auto start = std::chrono::steady_clock::now();
  for (uint64_t seed = first; seed < first + count; seed = shared().seed + 1) {
    int status = isolated([&] {
      int code = tryAll(seed, first + count, settingCount);
      std::fflush(stdout);
      return code;
    });
    if (WIFEXITED(status))
      continue;
    fmt::print("seed {}: {}: ended by signal {}\n", shared().seed, settingOf(shared().setting).name(),
               WTERMSIG(status));
    ++shared().tried;
    noteDifference(shared().seed, shared().setting);
  }
  Shared &all = shared();
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  fmt::print("{} kernels in {} compilations, {:.0f} s: {} differ, {} were not compared\n", all.tried, all.compiled,
             spent.count(), all.different, all.meaningless);
  if (all.different && all.firstDifferent)
    show(all.firstDifferent, all.differentSetting, tries);
  return all.different || all.meaningless * 50 > all.tried ? 1 : 0;
}

} // namespace
} // namespace opsight::fuzz

int main(int argc, char **argv) {
  if (argc < 3 || argc > 5) {
    fmt::print(stderr, "usage: fuzz_warp FIRST COUNT [SETTINGS [TRIES]]\n");
    return 2;
  }
  auto number = [&](int i, uint64_t unlessTold) { return i < argc ? std::strtoull(argv[i], nullptr, 10) : unlessTold; };
  return opsight::fuzz::run(number(1, 0), number(2, 0), unsigned(number(3, 3)), unsigned(number(4, 400)));
}
