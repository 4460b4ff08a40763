// From a CUDA module to a SPIR-V artifact: what goes around the pipeline of passes.cpp.
#include "lower/pipeline.h"
#include "lower/spirv/emit.h"
#include "lower/spirv/passes.h"
#include <fmt/format.h>
#include <llvm/IR/GlobalVariable.h>

namespace opsight::lower::spirv {

static uint64_t staticShared(const llvm::Module &module) {
  uint64_t bytes = 0;
  for (const llvm::GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() == sharedSpace)
      bytes = llvm::alignTo(bytes, variable.getAlign().valueOrOne()) +
              module.getDataLayout().getTypeAllocSize(variable.getValueType());
  return bytes;
}

// The front end knows the parameters as the user wrote them.
static void describeParameters(const cuda::Kernel &kernel, card::Manifest &manifest) {
  manifest.kernel = kernel.name;
  manifest.maxThreadsPerBlock = kernel.facts.maxThreadsPerBlock;
  for (size_t i = 0; i < std::min(kernel.parameters.size(), manifest.parameters.size()); ++i) {
    manifest.parameters[i].name = kernel.parameters[i].name;
    if (kernel.parameters[i].bytes) {
      manifest.parameters[i].bytes = kernel.parameters[i].bytes;
      manifest.parameters[i].alignment = kernel.parameters[i].alignment;
    }
  }
}

} // namespace opsight::lower::spirv

namespace opsight::lower {

Result<card::Artifact> toSpirv(const cuda::Module &module, const Target &target) {
  cuda::Module copy = module.clone();
  Result<Context> context = openContext(*copy.ir, copy.kernel.symbol, target);
  if (!context)
    return std::unexpected(context.error());
  context->manifest.format = card::Format::SpirV;
  spirv::describeParameters(module.kernel, context->manifest);
  if (Status done = runPasses(*context, spirv::passes()); !done)
    return std::unexpected(done.error());
  context->manifest.staticSharedBytes = spirv::staticShared(*copy.ir);
  std::string kept = keepIr(*context, "before-back-end");
  Result<spirv::Binary> binary = spirv::emit(*copy.ir);
  if (!binary) {
    binary.error().next = fmt::format("send in {}", kept);
    return std::unexpected(binary.error());
  }
  std::remove(kept.c_str());
  return card::Artifact{std::move(context->manifest), std::move(binary->words), std::move(binary->readable)};
}

} // namespace opsight::lower
