// From a CUDA module to a native artifact: what goes around the pipeline of passes.cpp.
#include "lower/native/artifact_cache.h"
#include "lower/native/emit.h"
#include "lower/native/passes.h"
#include "lower/pipeline.h"
#include "lower/spirv/warp_operations.h"
#include "lower/warp/passes.h"
#include <fmt/format.h>
#include <llvm/ADT/StringExtras.h>

namespace opsight::lower::native {

/// "flash<64, 64>" becomes "opsight_flash_64_64": a name that C can call.
static std::string entryName(const std::string &kernel) {
  std::string name = "opsight_";
  for (char c : kernel)
    if (llvm::isAlnum(c))
      name += c;
    else if (name.back() != '_')
      name += '_';
  while (name.back() == '_')
    name.pop_back();
  return name;
}

static void describe(const cuda::Kernel &kernel, const Target &target, card::Manifest &manifest) {
  manifest.kernel = kernel.name;
  manifest.entry = entryName(kernel.name);
  manifest.format = card::Format::Native;
  manifest.requiredBlock = target.block;
  manifest.maxThreadsPerBlock = kernel.facts.maxThreadsPerBlock;
  for (size_t i = 0; i < std::min(kernel.parameters.size(), manifest.parameters.size()); ++i) {
    manifest.parameters[i].name = kernel.parameters[i].name;
    manifest.parameters[i].type = kernel.parameters[i].type;
  }
}

} // namespace opsight::lower::native

namespace opsight::lower {

static Result<card::Artifact> makeNative(const cuda::Module &module, const Target &target) {
  cuda::Module copy = module.clone();
  Result<Context> context = openContext(*copy.ir, copy.kernel.symbol, target);
  if (!context)
    return std::unexpected(context.error());
  native::describe(module.kernel, target, context->manifest);
  const bool waitsForGrid = spirv::hasGridBarrier(*copy.ir);
  if (waitsForGrid && target.watched == Watched::Checked) // its shadow memory knows the phases of one block at a time
    return unsupported("a kernel that checks itself and waits for its whole grid", "have observers watch it");
  // Nobody to share with: the kernel may hold vectors of its own. Who waits for other blocks has to be a state machine.
  bool isLone = target.block.count() == 1 && !waitsForGrid;
  if (Status done = runPasses(*context, isLone ? native::passes() : warp::passes()); !done)
    return std::unexpected(done.error());
  context->manifest.notes.push_back(
      fmt::format("compiled for the processor '{}'; {}, blocks run on all cores", target.processor,
                  isLone ? "a block is one thread" : fmt::format("{} threads are one vector", context->target.lanes)));
  auto code = native::emit(*copy.ir, target.processor);
  if (!code)
    return std::unexpected(code.error());
  auto library = native::link(code->object, context->manifest.entry);
  if (!library)
    return std::unexpected(library.error());
  return card::Artifact{std::move(context->manifest), std::move(*library), std::move(code->assembly), std::move(context->watch)};
}

Result<card::Artifact> toNative(const cuda::Module &module, const Target &target) {
  std::string key = native::artifactKey(module, target);
  if (auto kept = native::keptArtifact(key))
    return std::move(*kept);
  Result<card::Artifact> artifact = makeNative(module, target);
  if (artifact)
    native::keepArtifact(key, *artifact);
  return artifact;
}

} // namespace opsight::lower
