// block_indices: threadIdx is 0, blockDim 1; blockIdx and gridDim come from six parameters added behind the manifest's,
// and clocks from the processor's cycle counter.
#include "lower/kernel.h"
#include "lower/native/passes.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace opsight::lower::native {

using llvm::IRBuilderBase, llvm::Value;

static Value *byAxis(llvm::Function &kernel, const char *const (&names)[3], llvm::StringRef axis) {
  int index = axis == "x" ? 0 : axis == "y" ? 1 : axis == "z" ? 2 : -1;
  return index < 0 ? nullptr : findArgument(kernel, names[index]);
}

/// The value of special register `name` ("ctaid.x"), or null where it is none of ours.
static Value *valueOf(IRBuilderBase &b, llvm::Function &kernel, llvm::StringRef name, llvm::Type *type) {
  auto [what, axis] = name.split('.');
  if (what == "ctaid")
    return byAxis(kernel, blockNames, axis);
  if (what == "nctaid")
    return byAxis(kernel, gridNames, axis);
  if (what == "tid" || what == "laneid" || what == "warpid")
    return llvm::ConstantInt::get(type, 0);
  if (what == "ntid")
    return llvm::ConstantInt::get(type, 1);
  if (what == "warpsize")
    return llvm::ConstantInt::get(type, 32);
  if (what == "clock" || what == "clock64")
    return b.CreateTrunc(b.CreateIntrinsic(b.getInt64Ty(), llvm::Intrinsic::readcyclecounter, {}), type);
  return nullptr;
}

static void addPlaceParameters(Context &context) {
  llvm::SmallVector<llvm::Type *> types(context.kernel->getFunctionType()->params());
  types.append(6, llvm::Type::getInt32Ty(context.module.getContext()));
  llvm::Function *old = replaceSignature(context, types);
  for (llvm::Argument &argument : old->args())
    argument.replaceAllUsesWith(context.kernel->getArg(argument.getArgNo()));
  unsigned first = old->arg_size();
  old->eraseFromParent();
  for (unsigned axis = 0; axis < 3; ++axis) {
    context.kernel->getArg(first + axis)->setName(blockNames[axis]);
    context.kernel->getArg(first + 3 + axis)->setName(gridNames[axis]);
  }
}

static Status run(Context &context) {
  addPlaceParameters(context);
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel))) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    llvm::StringRef name = call ? call->getCalledFunction()->getName() : "";
    if (!name.consume_front("llvm.nvvm.read.ptx.sreg."))
      continue;
    llvm::IRBuilder<> builder(call);
    Value *value = valueOf(builder, *context.kernel, name, call->getType());
    if (!value)
      continue; // refuse_unknown names it
    call->replaceAllUsesWith(value);
    call->eraseFromParent();
  }
  return {};
}

const Pass block_indices{"block_indices", "thread indices are constants, block indices parameters", run};

} // namespace opsight::lower::native
