// stack_shared: a block of one thread owns its shared memory alone, so static arrays live on its stack, where LLVM may
// promote them to registers; `extern __shared__` arrays are one parameter, the calling thread's dynamic memory.
#include "lower/kernel.h"
#include "lower/native/passes.h"
#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/ReplaceConstant.h>

namespace opsight::lower::native {

static llvm::Argument *addSharedParameter(Context &context) {
  llvm::SmallVector<llvm::Type *> types(context.kernel->getFunctionType()->params());
  types.push_back(llvm::PointerType::get(context.module.getContext(), 0));
  llvm::Function *old = replaceSignature(context, types);
  for (llvm::Argument &argument : old->args())
    argument.replaceAllUsesWith(context.kernel->getArg(argument.getArgNo()));
  old->eraseFromParent();
  llvm::Argument *shared = context.kernel->getArg(context.kernel->arg_size() - 1);
  shared->setName(sharedName);
  return shared;
}

static llvm::Value *homeOf(llvm::GlobalVariable &array, llvm::Argument *dynamic, llvm::IRBuilder<> &builder) {
  if (array.isDeclaration())
    return dynamic;
  auto *local = builder.CreateAlloca(array.getValueType(), nullptr, array.getName());
  local->setAlignment(std::max(array.getAlign().valueOrOne(), llvm::Align(64)));
  return local;
}

static Status run(Context &context) {
  llvm::SmallVector<llvm::GlobalVariable *> arrays;
  llvm::SmallVector<llvm::Constant *> constants;
  bool usesDynamic = false;
  for (llvm::GlobalVariable &variable : context.module.globals())
    if (variable.getAddressSpace() == sharedSpace) {
      arrays.push_back(&variable);
      constants.push_back(&variable);
      usesDynamic |= variable.isDeclaration();
      if (!variable.isDeclaration())
        context.manifest.staticSharedBytes += context.module.getDataLayout().getTypeAllocSize(variable.getValueType());
    }
  llvm::convertUsersOfConstantsToInstructions(constants);
  llvm::Argument *dynamic = addSharedParameter(context);
  if (usesDynamic)
    context.manifest.parameters.push_back(
        {.name = "", .kind = card::Parameter::Kind::DynamicShared, .bytes = 0, .alignment = 16});
  llvm::IRBuilder<> builder(&*context.kernel->getEntryBlock().getFirstInsertionPt());
  for (llvm::GlobalVariable *array : arrays) {
    array->removeDeadConstantUsers();
    llvm::Value *home = homeOf(*array, dynamic, builder);
    if (!array->use_empty())
      array->replaceAllUsesWith(builder.CreateAddrSpaceCast(home, array->getType()));
    array->eraseFromParent();
  }
  return {};
}

const Pass stack_shared{"stack_shared", "shared arrays live on the block's stack", run};

} // namespace opsight::lower::native
