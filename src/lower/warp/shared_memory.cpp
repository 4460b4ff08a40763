// shared_memory: static shared arrays get their places in the block's static memory, `extern __shared__` arrays are its
// dynamic memory; both come as parameters.
#include "lower/kernel.h"
#include "lower/native/passes.h"
#include "lower/warp/passes.h"
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/ReplaceConstant.h>

namespace opsight::lower::warp {

constexpr uint64_t arrayAlignment = 64; // a cache line: a row that starts an array costs one

static Status run(Context &context) {
  llvm::SmallVector<llvm::GlobalVariable *> arrays;
  for (llvm::GlobalVariable &variable : context.module.globals())
    if (variable.getAddressSpace() == native::sharedSpace)
      arrays.push_back(&variable);
  llvm::SmallVector<llvm::Constant *> constants(arrays.begin(), arrays.end());
  llvm::convertUsersOfConstantsToInstructions(constants);
  llvm::IRBuilder<> builder(&*context.kernel->getEntryBlock().getFirstInsertionPt());
  bool usesDynamic = false;
  uint64_t used = 0;
  for (llvm::GlobalVariable *array : arrays) {
    array->removeDeadConstantUsers();
    llvm::Value *home = findArgument(*context.kernel, sharedName);
    if (array->isDeclaration()) {
      usesDynamic = true;
    } else {
      used = llvm::alignTo(used, std::max(array->getAlign().valueOrOne(), llvm::Align(arrayAlignment)));
      home = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), findArgument(*context.kernel, staticName), used,
                                                array->getName());
      used += context.module.getDataLayout().getTypeAllocSize(array->getValueType());
    }
    array->replaceAllUsesWith(builder.CreateAddrSpaceCast(home, array->getType()));
    array->eraseFromParent();
  }
  context.manifest.staticSharedBytes = used;
  if (usesDynamic)
    context.manifest.parameters.push_back(
        {.name = "", .kind = card::Parameter::Kind::DynamicShared, .bytes = 0, .alignment = 16});
  return {};
}

const Pass shared_memory{"shared_memory", "shared arrays get their places in the block's memory", run};

} // namespace opsight::lower::warp
