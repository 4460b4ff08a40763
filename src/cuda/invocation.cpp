#include "cuda/invocation.h"
#include "base/file.h"
#include <algorithm>
#include <filesystem>

namespace opsight::cuda {
namespace fs = std::filesystem;

namespace {
// cmake/Dependencies.cmake takes LLVM from the same place; Clang's own headers belong to that very library.
constexpr const char *resourceFolder = "/usr/lib/llvm-22/lib/clang/22";

/// Newest libstdc++ of the host, e.g. "/usr/include/c++/12"; empty when there is none.
std::string newestLibstdcxx() {
  std::string newest;
  int best = -1;
  std::error_code failed;
  for (const auto &entry : fs::directory_iterator("/usr/include/c++", failed)) {
    std::string name = entry.path().filename();
    int version = !name.empty() && std::ranges::all_of(name, ::isdigit) ? std::stoi(name) : -1;
    if (version > best)
      best = version, newest = entry.path();
  }
  return newest;
}

/// "/usr/include/x86_64-linux-gnu", the host's own headers of its C library.
std::string multiarchFolder() {
  std::error_code failed;
  for (const auto &entry : fs::directory_iterator("/usr/include", failed))
    if (entry.path().filename().string().ends_with("-linux-gnu"))
      return entry.path();
  return {};
}

/// Header folders in the order of search. For CUDA ours come first and hold every name of the SDK's, so that an SDK that
/// happens to be installed beside the C library is never taken.
void addHeaderFolders(std::vector<std::string> &arguments, bool forCuda) {
  auto add = [&](const char *option, const std::string &folder) {
    arguments.insert(arguments.end(), {option, folder});
  };
  std::string resource = resourceFolder, libstdcxx = newestLibstdcxx(), multiarch = multiarchFolder();
  if (forCuda) {
    add("-internal-isystem", cudaHeaderFolder());
    add("-internal-isystem", resource + "/include/cuda_wrappers");
  }
  if (!libstdcxx.empty()) {
    add("-internal-isystem", libstdcxx);
    if (!multiarch.empty())
      add("-internal-isystem", multiarch + "/c++/" + fs::path(libstdcxx).filename().string());
    add("-internal-isystem", libstdcxx + "/backward");
  }
  add("-internal-isystem", resource + "/include");
  add("-internal-isystem", "/usr/local/include");
  if (!multiarch.empty())
    add("-internal-externc-isystem", multiarch);
  add("-internal-externc-isystem", "/usr/include");
}

Status addExtraFlags(const CompileRequest &request, std::vector<std::string> &arguments) {
  bool standardGiven = false;
  for (const std::string &flag : request.extraFlags) {
    if (!flag.starts_with("-D") && !flag.starts_with("-I") && !flag.starts_with("-std="))
      return userError("compiler flag '" + flag + "' is not taken", "only -D…, -I… and -std=… are");
    standardGiven |= flag.starts_with("-std=");
    arguments.push_back(flag);
  }
  if (!standardGiven)
    arguments.push_back("-std=c++17"); // nvcc's default
  return {};
}
} // namespace

std::string cudaHeaderFolder() { return (dataRoot() / "include/opsight-cuda/").lexically_normal(); }

Result<std::vector<std::string>> clangArguments(const CompileRequest &request) {
  std::vector<std::string> arguments = {
      "-triple", "nvptx64-nvidia-cuda", "-aux-triple", "x86_64-pc-linux-gnu", "-aux-target-cpu", "x86-64",
      "-target-cpu", "sm_80", "-target-feature", "+ptx88", // also makes __CUDA_ARCH__ 800
      "-fcuda-is-device", "-fcuda-allow-variadic-functions", "-fno-threadsafe-statics",
      "-O3", "-disable-llvm-passes", "-emit-llvm-only", "-discard-value-names", "-mframe-pointer=none",
      "-ffp-contract=fast", // as nvcc does
      "-fno-rounding-math", "-debug-info-kind=line-tables-only", "-dwarf-version=4",
      "-fdeprecated-macro", "-fno-autolink", "-fgnuc-version=4.2.1", "-fcxx-exceptions", "-fexceptions",
      "-ferror-limit", "19", "-fmessage-length=0", "-ftemplate-depth=900", "-Wno-c++11-narrowing", "-Wno-register",
      "-Wno-unknown-pragmas",
      "-resource-dir", resourceFolder, "-nostdsysteminc"};
  if (Status added = addExtraFlags(request, arguments); !added)
    return std::unexpected(added.error());
  for (const std::string &folder : request.includeFolders)
    arguments.push_back("-I" + folder);
  addHeaderFolders(arguments, /*forCuda=*/true);
  for (const auto &[name, value] : request.defines)
    arguments.push_back("-D" + name + "=" + value);
  if (request.fastMath)
    arguments.insert(arguments.end(), {"-D__USE_FAST_MATH__=1", "-fapprox-func"});
  arguments.insert(arguments.end(), {"-include", "opsight/prelude.h", "-x", "cuda", request.file});
  return arguments;
}

std::vector<std::string> hostArguments(const std::string &file) {
  std::vector<std::string> arguments = {
      "-triple", "x86_64-pc-linux-gnu", "-target-cpu", "x86-64", "-O2", "-emit-llvm-only", "-mrelocation-model", "pic",
      "-pic-level", "2", "-fvisibility=hidden", "-funwind-tables=2", "-fcxx-exceptions", "-fexceptions",
      "-ffp-contract=off", // what is written is what is computed, on every machine
      "-std=c++20", "-fdeprecated-macro", "-fgnuc-version=4.2.1", "-ferror-limit", "19", "-fmessage-length=0", "-w",
      "-resource-dir", resourceFolder, "-nostdsysteminc"};
  addHeaderFolders(arguments, /*forCuda=*/false);
  arguments.insert(arguments.end(), {"-x", "c++", file});
  return arguments;
}

} // namespace opsight::cuda
