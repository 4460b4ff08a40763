// dynamic_shared: `extern __shared__` arrays become one parameter, a pointer to workgroup memory; left as an import they
// crash consumers. All such arrays of a kernel name the same memory.
#include "lower/kernel.h"
#include "lower/spirv/passes.h"
#include <llvm/IR/ReplaceConstant.h>

namespace opsight::lower::spirv {

static Status run(Context &context) {
  llvm::SmallVector<llvm::GlobalVariable *> arrays;
  llvm::SmallVector<llvm::Constant *> constants;
  for (llvm::GlobalVariable &variable : context.module.globals())
    if (variable.getAddressSpace() == sharedSpace && variable.isDeclaration()) {
      arrays.push_back(&variable);
      constants.push_back(&variable);
    }
  if (arrays.empty())
    return {};
  llvm::convertUsersOfConstantsToInstructions(constants);
  llvm::Argument *argument =
      appendParameter(context, llvm::PointerType::get(context.module.getContext(), sharedSpace),
                      {.name = "", .kind = card::Parameter::Kind::DynamicShared, .bytes = 0, .alignment = 16});
  // Vector code aligns its accesses by this.
  argument->addAttr(llvm::Attribute::getWithAlignment(context.module.getContext(), llvm::Align(16)));
  for (llvm::GlobalVariable *array : arrays) {
    array->replaceAllUsesWith(argument);
    array->eraseFromParent();
  }
  return {};
}

const Pass dynamic_shared{"dynamic_shared", "turn extern __shared__ into a workgroup pointer parameter", run};

} // namespace opsight::lower::spirv
