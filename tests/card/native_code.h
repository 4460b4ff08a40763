// Native artifacts for tests: a few lines of C++ after src/card/cpu/abi.h, compiled to a shared library.
#pragma once
#include "base/file.h"
#include "card/session.h"
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

namespace opsight::card {

/// An artifact whose entry "entry" has the given body; `p` is its first buffer as float *, `launch`, `begin` and `end`
/// as in the ABI. `before` goes before the function.
inline Artifact nativeArtifact(const std::string &body, std::vector<Parameter> parameters = {{.name = "out"}},
                               const std::string &before = {}) {
  auto folder = std::filesystem::temp_directory_path() / ("opsight-test-" + std::to_string(::getpid()));
  std::string source = "#include \"card/cpu/abi.h\"\n#include <stdlib.h>\n#include <string.h>\n"
                       "#include <unistd.h>\n#include <sys/socket.h>\n#include <sys/mman.h>\n" +
                       before +
                       "\nextern \"C\" void entry(const opsight::card::native::Launch *launch, uint64_t begin, uint64_t end, void *shared) {\n"
                       "  volatile float *p = launch->arguments[0] ? *(float *const *)launch->arguments[0] : nullptr;\n"
                       "  for (uint64_t block = begin; block < end; ++block) {\n" +
                       body + "\n  }\n}\n";
  EXPECT_TRUE(writeFile(folder / "kernel.cpp", source));
  std::string command = "clang++-22 -std=c++20 -O1 -w -shared -fPIC -I " OPSIGHT_SOURCE_DIR "/src " +
                        (folder / "kernel.cpp").string() + " -o " + (folder / "kernel.so").string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  Artifact artifact;
  artifact.manifest.kernel = artifact.manifest.entry = "entry";
  artifact.manifest.format = Format::Native;
  artifact.manifest.parameters = std::move(parameters);
  artifact.code = readFile(folder / "kernel.so").value();
  std::filesystem::remove_all(folder);
  return artifact;
}

inline std::vector<std::byte> scalar(auto value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

inline std::span<float> floats(Buffer &buffer) {
  auto bytes = buffer.bytes();
  return {reinterpret_cast<float *>(bytes.data()), bytes.size() / sizeof(float)};
}

} // namespace opsight::card
