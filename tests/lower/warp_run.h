// Runs kernels written as the vectoriser leaves them, a warp a call, through suspend and warp_range in a worker.
#pragma once
#include "card/session.h"
#include "lower/native/emit.h"
#include "lower/pipeline.h"
#include "lower/registry.h"
#include <cstring>
#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>

namespace opsight::lower {

/// What follows the manifest's parameters of such a kernel.
inline const std::string warpParameters =
    "i32 %opsight.block.x, i32 %opsight.block.y, i32 %opsight.block.z, i32 %opsight.grid.x, i32 %opsight.grid.y, "
    "i32 %opsight.grid.z, ptr %opsight.shared, ptr %opsight.static, i32 %opsight.warp";

/// The kernel `kernel` of `text` for a block of `warps` warps of four threads; `prepare` changes it before our passes do.
inline Result<card::Artifact> warpArtifact(const std::string &text, unsigned warps,
                                           void (*prepare)(llvm::Module &) = nullptr) {
  llvm::LLVMContext llvmContext;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text + "\ndeclare i32 @opsight.barrier(i32, i32, i32)\n"
                                                 "declare void @opsight.fault(i32)\n",
                                          diagnostic, llvmContext);
  if (!module)
    return internalError(diagnostic.getMessage().str() + " in line " + std::to_string(diagnostic.getLineNo()));
  Target target;
  target.lanes = 4;
  target.block = {4 * warps, 1, 1};
  auto context = openContext(*module, "kernel", target);
  if (!context)
    return std::unexpected(context.error());
  context->manifest.format = card::Format::Native;
  context->manifest.requiredBlock = target.block;
  context->manifest.staticSharedBytes = 4096;
  context->places = {{"k.cu", 12, 3}, {"k.cu", 34, 5}};
  if (prepare)
    prepare(*module);
  std::vector<const Pass *> chosen;
  for (const char *name : {"retarget", "suspend", "warp_range", "optimise"})
    chosen.push_back(findPass(name));
  if (Status done = runPasses(*context, chosen); !done)
    return std::unexpected(done.error());
  auto code = native::emit(*module, "native");
  if (!code)
    return std::unexpected(code.error());
  auto library = native::link(code->object, context->manifest.entry);
  if (!library)
    return std::unexpected(library.error());
  return card::Artifact{context->manifest, std::move(*library), std::move(code->assembly)};
}

class OnWarps : public testing::Test {
protected:
  void SetUp() override {
    auto opened = card::Session::open("cpu", {.runTimeout = std::chrono::milliseconds(10'000)});
    ASSERT_TRUE(opened) << describe(opened.error());
    session = std::move(*opened);
  }

  /// Runs `text`, whose parameters are `ptr %x, i32 %n`, over `count` zeros, and returns what it made of them.
  std::vector<int> run(const std::string &text, unsigned warps, size_t count, int n = 0, card::Dim3 grid = {},
                       uint64_t order = 0) {
    launched = {.end = card::Launched::End::Refused};
    auto artifact = warpArtifact(text, warps);
    EXPECT_TRUE(artifact) << describe(artifact.error());
    if (!artifact)
      return {};
    return launch(*artifact, warps, count, n, grid, order);
  }
  std::vector<int> launch(const card::Artifact &artifact, unsigned warps, size_t count, int n, card::Dim3 grid = {},
                          uint64_t order = 0) {
    auto program = session->load(artifact);
    EXPECT_TRUE(program) << describe(program.error());
    auto buffer = session->createBuffer(count * sizeof(int));
    std::memset((*buffer)->bytes().data(), 0, (*buffer)->bytes().size());
    std::vector<std::byte> scalar(sizeof n);
    std::memcpy(scalar.data(), &n, sizeof n);
    const card::Argument arguments[] = {buffer->get(), scalar};
    auto result = session->launch(*program, {.grid = grid, .block = {4 * warps, 1, 1}, .order = order}, arguments);
    EXPECT_TRUE(result) << describe(result.error());
    launched = result.value_or(card::Launched{.end = card::Launched::End::Refused});
    std::vector<int> values(count);
    std::memcpy(values.data(), (*buffer)->bytes().data(), count * sizeof(int));
    return values;
  }

  std::unique_ptr<card::Session> session;
  card::Launched launched;
};

} // namespace opsight::lower
