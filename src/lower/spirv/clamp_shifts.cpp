// clamp_shifts: a shift by the width or more gives 0 (or the sign) on CUDA hardware; SPIR-V leaves it undefined and x86
// masks the count. Shifts whose count is provably small are left alone.
#include "lower/spirv/passes.h"
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace opsight::lower::spirv {

static void clamp(llvm::BinaryOperator *shift) {
  llvm::IRBuilder<> builder(shift);
  llvm::Type *type = shift->getType();
  llvm::Value *count = shift->getOperand(1);
  unsigned width = type->getScalarSizeInBits();
  // The count may be poison-derived only if the program's own count was; no freeze is needed.
  llvm::Value *tooFar = builder.CreateICmpUGE(count, llvm::ConstantInt::get(type, width));
  if (shift->getOpcode() == llvm::Instruction::AShr) {
    shift->setOperand(1, builder.CreateSelect(tooFar, llvm::ConstantInt::get(type, width - 1), count));
    return;
  }
  shift->setOperand(1, builder.CreateSelect(tooFar, llvm::ConstantInt::get(type, 0), count));
  builder.SetInsertPoint(shift->getNextNode());
  auto *result = llvm::cast<llvm::Instruction>(
      builder.CreateSelect(tooFar, llvm::Constant::getNullValue(type), llvm::UndefValue::get(type)));
  shift->replaceAllUsesWith(result);
  result->setOperand(2, shift);
}

static Status run(Context &context) {
  const llvm::DataLayout &layout = context.module.getDataLayout();
  llvm::SmallVector<llvm::BinaryOperator *> shifts;
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel)) {
    if (!instruction.isShift())
      continue;
    llvm::KnownBits known = llvm::computeKnownBits(instruction.getOperand(1), layout);
    if (known.getMaxValue().uge(instruction.getType()->getScalarSizeInBits()))
      shifts.push_back(llvm::cast<llvm::BinaryOperator>(&instruction));
  }
  for (llvm::BinaryOperator *shift : shifts) {
    shift->dropPoisonGeneratingFlags();
    clamp(shift);
  }
  return {};
}

const Pass clamp_shifts{"clamp_shifts", "give shifts by the width or more CUDA's result", run};

} // namespace opsight::lower::spirv
