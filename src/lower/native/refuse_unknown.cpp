// refuse_unknown: whatever of CUDA no pass before this one translated ends here, by name and line, instead of in a back
// end that would crash on it or a linker that would only know its mangled name.
#include "lower/native/passes.h"
#include <fmt/format.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

namespace opsight::lower::native {

static bool isOurs(llvm::StringRef name) {
  return name.starts_with("llvm.nvvm.") || name.starts_with("__nv_") || name.starts_with("__opsight_");
}

static Status run(Context &context) {
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel)) {
    auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (!call || !call->getCalledFunction() || !isOurs(call->getCalledFunction()->getName()))
      continue;
    return unsupported(fmt::format("{} on the cpu card", readableName(call->getCalledFunction()->getName())),
                       "try an OpenCL card", placeOf(*call));
  }
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel))
    if (auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      context.manifest.usesFloatAtomics |= atomic->isFloatingPointOperation();
  return {};
}

const Pass refuse_unknown{"refuse_unknown", "name what of CUDA is left untranslated", run};

} // namespace opsight::lower::native
