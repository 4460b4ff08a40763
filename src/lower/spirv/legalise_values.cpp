// legalise_values: values of types and forms that SPIR-V consumers do not take are rewritten into ones they do.
#include "lower/spirv/passes.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace opsight::lower::spirv {

// `freeze` says: some value, but one. Drivers have no undefined values but the constant; zero is as good as any.
static void dropFreeze(llvm::FreezeInst *freeze) {
  llvm::Value *value = freeze->getOperand(0);
  if (llvm::isa<llvm::UndefValue>(value))
    value = llvm::Constant::getNullValue(freeze->getType());
  freeze->replaceAllUsesWith(value);
  freeze->eraseFromParent();
}

// SPIR-V before 1.4 selects vectors by a vector of conditions only.
static void spreadCondition(llvm::SelectInst *select) {
  auto *vector = llvm::dyn_cast<llvm::VectorType>(select->getType());
  if (!vector || select->getCondition()->getType()->isVectorTy())
    return;
  llvm::IRBuilder<> builder(select);
  select->setCondition(builder.CreateVectorSplat(vector->getElementCount(), select->getCondition()));
}

// LLVM 22's SPIR-V back end takes the only member of a member for that member itself, unless it is taken in one step.
static void extractAtOnce(llvm::ExtractValueInst *outer, llvm::ExtractValueInst *inner) {
  llvm::SmallVector<unsigned> indices(outer->indices());
  indices.append(inner->idx_begin(), inner->idx_end());
  inner->replaceAllUsesWith(llvm::IRBuilder<>(inner).CreateExtractValue(outer->getAggregateOperand(), indices));
  inner->eraseFromParent();
  if (outer->use_empty())
    outer->eraseFromParent();
}

static bool saysNothing(const llvm::Instruction &instruction) {
  auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return intrinsic && (intrinsic->isAssumeLikeIntrinsic() || intrinsic->getIntrinsicID() == llvm::Intrinsic::prefetch);
}

static Status run(Context &context) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel))) {
    if (auto *freeze = llvm::dyn_cast<llvm::FreezeInst>(&instruction))
      dropFreeze(freeze);
    else if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&instruction))
      spreadCondition(select);
    else if (auto *inner = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
      if (auto *outer = llvm::dyn_cast<llvm::ExtractValueInst>(inner->getAggregateOperand()))
        extractAtOnce(outer, inner);
    } else if (saysNothing(instruction) && instruction.use_empty())
      instruction.eraseFromParent();
  }
  return {};
}

const Pass legalise_values{"legalise_values", "rewrite forms of values that SPIR-V consumers refuse", run};

} // namespace opsight::lower::spirv
