// Runs CUDA text on an OpenCL driver through the whole road: front end, SPIR-V, worker.
#pragma once
#include "base/file.h"
#include "card/session.h"
#include "cuda/compile.h"
#include "lower/lower.h"
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <unistd.h>

namespace opsight::lower {

struct Text {
  std::string source;
  std::string kernel{}; // may stay empty where there is one
};

/// A card and a level of optimisation: kernels must be right under all.
struct Where {
  std::string card;
  int optimization;
};

class OnOpenCl : public testing::TestWithParam<Where> {
protected:
  void SetUp() override {
    auto &opened = openOnce(GetParam().card);
    if (!opened && opened.error().kind == ErrorKind::NoVerdict)
      GTEST_SKIP() << "no device for card " << GetParam().card << ": " << opened.error().what;
    ASSERT_TRUE(opened) << describe(opened.error());
    session = opened->get();
  }

  /// One worker a card serves all tests of the program: starting a driver costs more than most of them.
  static Result<std::unique_ptr<card::Session>> &openOnce(const std::string &card) {
    static std::map<std::string, Result<std::unique_ptr<card::Session>>> sessions;
    auto found = sessions.find(card);
    if (found == sessions.end())
      found = sessions.emplace(card, card::Session::open(card, {})).first;
    return found->second;
  }

  Result<card::Artifact> lowered(const Text &text, card::Dim3 block) {
    ::setenv("OPSIGHT_ROOT", OPSIGHT_SOURCE_DIR, 1);
    auto path = std::filesystem::temp_directory_path() / ("opsight-lower-" + std::to_string(::getpid()) + ".cu");
    EXPECT_TRUE(writeFile(path, text.source));
    cuda::CompileRequest request;
    request.file = path;
    request.kernel = text.kernel;
    request.optimization = GetParam().optimization;
    auto module = cuda::compile(request);
    std::filesystem::remove(path);
    if (!module)
      return std::unexpected(module.error());
    Target target;
    target.block = block;
    target.subgroupWidths = {session->info().subgroupWidths.begin(), session->info().subgroupWidths.end()};
    target.hasDouble = session->info().hasDouble;
    target.hasHalf = session->info().hasHalf;
    return toSpirv(*module, target);
  }

  /// A buffer that holds `values`; `contents` reads it back.
  template <class T> card::Buffer *buffer(const std::vector<T> &values) {
    auto made = session->createBuffer(values.size() * sizeof(T));
    EXPECT_TRUE(made) << describe(made.error());
    std::memcpy((*made)->bytes().data(), values.data(), values.size() * sizeof(T));
    buffers.push_back(std::move(*made));
    return buffers.back().get();
  }
  template <class T> static std::vector<T> contents(card::Buffer *buffer) {
    std::vector<T> values(buffer->bytes().size() / sizeof(T));
    std::memcpy(values.data(), buffer->bytes().data(), values.size() * sizeof(T));
    return values;
  }
  template <class T> static std::vector<std::byte> scalar(T value) {
    std::vector<std::byte> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
  }

  card::Launched launch(const Text &text, card::LaunchConfig config, std::vector<card::Argument> arguments) {
    auto artifact = lowered(text, config.block);
    EXPECT_TRUE(artifact) << describe(artifact.error());
    if (!artifact)
      return {.end = card::Launched::End::Refused};
    auto program = session->load(*artifact);
    EXPECT_TRUE(program) << describe(program.error());
    if (!program)
      return {.end = card::Launched::End::Refused};
    auto launched = session->launch(*program, config, arguments);
    EXPECT_TRUE(launched) << describe(launched.error());
    return launched.value_or(card::Launched{.end = card::Launched::End::Refused});
  }
  void run(const Text &text, card::LaunchConfig config, std::vector<card::Argument> arguments) {
    card::Launched launched = launch(text, config, std::move(arguments));
    EXPECT_EQ(launched.end, card::Launched::End::Done) << launched.detail;
  }

  card::Session *session = nullptr;
  std::vector<std::unique_ptr<card::Buffer>> buffers;
};

inline std::string whereName(const testing::TestParamInfo<Where> &info) {
  std::string name = info.param.card + "_O" + std::to_string(info.param.optimization);
  std::ranges::replace(name, ':', '_');
  return name;
}
inline auto everywhere() {
  return testing::Values(Where{"opencl:pocl", 0}, Where{"opencl:pocl", 3}, Where{"opencl:intel", 0}, Where{"opencl:intel", 3});
}

} // namespace opsight::lower
