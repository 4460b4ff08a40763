// strip_for_driver: last before the back end. What is still CUDA is refused by name and line; then everything that
// drivers and validators stumble over goes: debug information, metadata, attributes, CUDA's triple.
#include "lower/spirv/passes.h"
#include <fmt/format.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/TargetParser/Triple.h>

namespace opsight::lower::spirv {

static Status refuseForeignCalls(const Context &context) {
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel)) {
    auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (!call || !call->getCalledFunction())
      continue;
    llvm::StringRef name = call->getCalledFunction()->getName();
    bool known = call->getCallingConv() == llvm::CallingConv::SPIR_FUNC || name.starts_with("llvm.ctpop");
    if (!known)
      return unsupported(fmt::format("{} has no counterpart on OpenCL cards", readableName(name)), "", placeOf(*call));
  }
  return {};
}

// The manifest says what the code asks of the device, and a device known to lack double is told now, with the line;
// for one without half, soft_half left none.
static Status noteTypes(Context &context) {
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel)) {
    llvm::Type *scalar = instruction.getType()->getScalarType();
    context.manifest.needsDouble |= scalar->isDoubleTy();
    context.manifest.needsHalf |= scalar->isHalfTy();
    if (scalar->isDoubleTy() && !context.target.hasDouble)
      return unsupported("the card has no double precision", "compute in float", placeOf(instruction));
  }
  return {};
}

static void dropAttributes(llvm::Function &kernel) {
  kernel.setCallingConv(llvm::CallingConv::SPIR_KERNEL);
  kernel.setAttributes(kernel.getAttributes().removeFnAttributes(kernel.getContext()));
  kernel.addFnAttr(llvm::Attribute::NoUnwind);
  llvm::SmallVector<std::pair<unsigned, llvm::MDNode *>> metadata;
  for (llvm::Instruction &instruction : llvm::instructions(kernel)) {
    metadata.clear();
    instruction.getAllMetadataOtherThanDebugLoc(metadata);
    for (auto [kind, node] : metadata)
      instruction.setMetadata(kind, nullptr);
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      call->setAttributes({});
  }
}

static Status run(Context &context) {
  if (Status clean = refuseForeignCalls(context); !clean)
    return clean;
  if (Status fits = noteTypes(context); !fits)
    return fits;
  llvm::StripDebugInfo(context.module);
  for (llvm::NamedMDNode &node : llvm::make_early_inc_range(context.module.named_metadata()))
    context.module.eraseNamedMetadata(&node);
  for (llvm::Function &function : llvm::make_early_inc_range(context.module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
  dropAttributes(*context.kernel);
  // Subgroup shuffles and ballots came with 1.3; what needs none stays readable to the oldest drivers.
  context.module.setTargetTriple(
      llvm::Triple(context.manifest.subgroupWidth ? "spirv64v1.3-unknown-unknown" : "spirv64v1.0-unknown-unknown"));
  context.module.setDataLayout("e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1");
  return {};
}

const Pass strip_for_driver{"strip_for_driver", "refuse what is still CUDA, then drop what drivers stumble over", run};

} // namespace opsight::lower::spirv
