// keep_kernel: the kernel and what it reaches stay, everything else goes; nothing may stop inlining or optimisation.
#include "lower/analyses.h"
#include "lower/spirv/passes.h"
#include <llvm/IR/GlobalVariable.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

namespace opsight::lower::spirv {

static Status run(Context &context) {
  llvm::Module &module = context.module;
  for (llvm::StringRef list : {"llvm.used", "llvm.compiler.used", "llvm.global.annotations"})
    if (llvm::GlobalVariable *variable = module.getGlobalVariable(list))
      variable->eraseFromParent();
  for (llvm::Function &function : module) {
    function.setComdat(nullptr);
    if (function.isDeclaration())
      continue;
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.setLinkage(&function == context.kernel ? llvm::GlobalValue::ExternalLinkage
                                                    : llvm::GlobalValue::InternalLinkage);
  }
  for (llvm::GlobalVariable &variable : module.globals()) {
    variable.setComdat(nullptr);
    if (!variable.isDeclaration())
      variable.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  llvm::ModulePassManager passes;
  passes.addPass(llvm::GlobalDCEPass());
  runModulePasses(module, passes);
  return {};
}

const Pass keep_kernel{"keep_kernel", "drop what the kernel does not reach and what stops inlining", run};

} // namespace opsight::lower::spirv
