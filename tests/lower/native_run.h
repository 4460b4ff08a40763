// Compiles CUDA text for the host processor, loads it and runs it: the whole way of the cpu card, without the worker.
#pragma once
#include "base/file.h"
#include "card/cpu/abi.h"
#include "cuda/compile.h"
#include "lower/lower.h"
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace opsight::lower {

/// A folder of this process, removed with it.
inline const std::filesystem::path &scratch() {
  struct Folder {
    std::filesystem::path path;
    Folder() {
      std::string pattern = (std::filesystem::temp_directory_path() / "opsight-native-XXXXXX").string();
      path = ::mkdtemp(pattern.data());
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static Folder folder;
  return folder.path;
}

inline std::filesystem::path writeSource(const std::string &text) {
  static int number = 0;
  auto path = scratch() / ("kernel" + std::to_string(number++) + ".cu");
  EXPECT_TRUE(writeFile(path, text));
  return path;
}

inline Result<card::Artifact> compileNative(cuda::CompileRequest request, const Target &target = {}) {
  ::setenv("OPSIGHT_ROOT", OPSIGHT_SOURCE_DIR, 1);
  auto module = cuda::compile(request);
  if (!module)
    return std::unexpected(module.error());
  return toNative(*module, target);
}

inline Result<card::Artifact> compileText(const std::string &text, const Target &target = {}, int optimization = 3) {
  cuda::CompileRequest request;
  request.file = writeSource(text);
  request.optimization = optimization;
  return compileNative(request, target);
}

/// A loaded artifact; `run` takes one address a parameter, as the ABI does.
class Loaded {
public:
  explicit Loaded(const card::Artifact &artifact) {
    static int number = 0;
    auto path = scratch() / ("lib" + std::to_string(number++) + ".so");
    EXPECT_TRUE(writeFile(path, artifact.code));
    library_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_TRUE(library_) << ::dlerror();
    entry_ = library_ ? reinterpret_cast<card::native::Entry>(::dlsym(library_, artifact.manifest.entry.c_str())) : nullptr;
    EXPECT_TRUE(entry_) << artifact.manifest.entry;
  }
  Loaded(const Loaded &) = delete;
  ~Loaded() {
    if (library_)
      ::dlclose(library_);
  }

  void run(card::Dim3 grid, std::vector<const void *> arguments, void *shared = nullptr, uint64_t sharedBytes = 0) {
    runRange(grid, 0, grid.count(), arguments, shared, sharedBytes);
  }
  void runRange(card::Dim3 grid, uint64_t begin, uint64_t end, const std::vector<const void *> &arguments,
                void *shared = nullptr, uint64_t sharedBytes = 0) {
    card::native::Launch launch{{grid.x, grid.y, grid.z}, {1, 1, 1}, arguments.data(), sharedBytes, 0};
    entry_(&launch, begin, end, shared);
  }

private:
  void *library_ = nullptr;
  card::native::Entry entry_ = nullptr;
};

} // namespace opsight::lower
