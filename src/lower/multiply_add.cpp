// See multiply_add.h.
#include "lower/multiply_add.h"
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace opsight::lower {

static bool mayFuse(const llvm::User *user) {
  auto *operation = llvm::dyn_cast<llvm::BinaryOperator>(user);
  return operation && operation->hasAllowContract() &&
         (operation->getOpcode() == llvm::Instruction::FAdd || operation->getOpcode() == llvm::Instruction::FSub);
}

static void fuse(llvm::BinaryOperator *product, llvm::BinaryOperator *sum) {
  llvm::IRBuilder<> builder(sum);
  builder.setFastMathFlags(sum->getFastMathFlags());
  bool subtract = sum->getOpcode() == llvm::Instruction::FSub;
  llvm::Value *a = product->getOperand(0), *b = product->getOperand(1), *c;
  if (sum->getOperand(0) == product) { // a·b ± c
    c = subtract ? builder.CreateFNeg(sum->getOperand(1)) : sum->getOperand(1);
  } else { // c ± a·b
    c = sum->getOperand(0);
    a = subtract ? builder.CreateFNeg(a) : a;
  }
  llvm::Value *fused = builder.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {a, b, c});
  sum->replaceAllUsesWith(fused);
  sum->eraseFromParent();
}

void fuseMultiplyAdds(llvm::Function &function, llvm::function_ref<bool(const llvm::Type *)> which) {
  llvm::SmallVector<llvm::BinaryOperator *> products;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (instruction.getOpcode() == llvm::Instruction::FMul && instruction.hasAllowContract() &&
        which(instruction.getType()))
      products.push_back(llvm::cast<llvm::BinaryOperator>(&instruction));
  for (llvm::BinaryOperator *product : products) {
    // x·y + x·y with one product on both sides stays: fusing would need it twice.
    llvm::SmallPtrSet<llvm::User *, 4> sums(product->user_begin(), product->user_end());
    if (sums.empty() || sums.size() != product->getNumUses() || !llvm::all_of(sums, mayFuse))
      continue;
    llvm::SmallVector<llvm::User *> ordered;
    for (llvm::User *user : product->users())
      ordered.push_back(user);
    for (llvm::User *user : ordered)
      fuse(product, llvm::cast<llvm::BinaryOperator>(user));
    product->eraseFromParent();
  }
}

} // namespace opsight::lower
