// kernel_parameters: types that OpenCL lets a kernel take. Pointers come in address space 1 (cast to generic at the
// entry, so that the body need not change), bool comes as a byte, a struct by value stays `byval` in private memory.
#include "lower/kernel.h"
#include "lower/spirv/passes.h"
#include <llvm/IR/IRBuilder.h>

namespace opsight::lower::spirv {

static llvm::Type *typeForCard(const llvm::Argument &argument) {
  llvm::LLVMContext &context = argument.getContext();
  llvm::Type *type = argument.getType();
  if (argument.hasByValAttr())
    return llvm::PointerType::get(context, localSpace);
  if (type->isPointerTy() && type->getPointerAddressSpace() == genericSpace)
    return llvm::PointerType::get(context, globalSpace);
  return type->isIntegerTy(1) ? llvm::Type::getInt8Ty(context) : type;
}

static Status run(Context &context) {
  llvm::SmallVector<llvm::Type *> types;
  for (llvm::Argument &argument : context.kernel->args())
    types.push_back(typeForCard(argument));
  llvm::Function *old = replaceSignature(context, types);
  llvm::IRBuilder<> builder(&*context.kernel->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  for (llvm::Argument &before : old->args()) {
    llvm::Value *now = context.kernel->getArg(before.getArgNo());
    if (now->getType() != before.getType())
      now = before.getType()->isPointerTy() ? builder.CreateAddrSpaceCast(now, before.getType())
                                            : builder.CreateTrunc(now, before.getType());
    before.replaceAllUsesWith(now);
  }
  old->eraseFromParent();
  return {};
}

const Pass kernel_parameters{"kernel_parameters", "give the kernel parameters of types that OpenCL takes", run};

} // namespace opsight::lower::spirv
