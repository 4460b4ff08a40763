// inline_all: afterwards the kernel is the only function with a body. SPIR-V has no address-space-generic functions that
// every consumer takes, and all the passes behind this one look at one function.
#include "lower/analyses.h"
#include "lower/spirv/passes.h"
#include <fmt/format.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

namespace opsight::lower::spirv {

static Status refuseRemainingCalls(const Context &context) {
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel)) {
    auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (!call)
      continue;
    if (call->isInlineAsm())
      return unsupported("inline PTX assembly", "write it in CUDA C++", placeOf(*call));
    const llvm::Function *callee = call->getCalledFunction();
    if (!callee)
      return unsupported("a call through a pointer", "call the function by its name", placeOf(*call));
    if (!callee->isDeclaration())
      return unsupported(fmt::format("the recursive function {}", readableName(callee->getName())),
                         "write it as a loop", placeOf(*call));
  }
  return {};
}

static Status run(Context &context) {
  for (llvm::Function &function : context.module)
    if (!function.isDeclaration() && &function != context.kernel)
      function.addFnAttr(llvm::Attribute::AlwaysInline);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  runModulePasses(context.module, passes);
  return refuseRemainingCalls(context);
}

const Pass inline_all{"inline_all", "inline every device function into the kernel", run};

} // namespace opsight::lower::spirv
