// compare_nans: the question whether a number is NaN becomes a comparison of it with itself. LLVM 22's InstCombine does not
// come to an end on llvm.is.fpclass of a widened half whose result a select joins with other comparisons of that half.
#include "lower/native/passes.h"
#include <llvm/ADT/FloatingPointMode.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace opsight::lower::native {

static Status run(Context &context) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel))) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call || call->getIntrinsicID() != llvm::Intrinsic::is_fpclass)
      continue;
    auto asked = llvm::FPClassTest(llvm::cast<llvm::ConstantInt>(call->getArgOperand(1))->getZExtValue());
    if (asked != llvm::fcNan && asked != (llvm::fcAllFlags & ~llvm::fcNan))
      continue;
    llvm::IRBuilder<> b(call);
    llvm::Value *number = call->getArgOperand(0);
    auto predicate = asked == llvm::fcNan ? llvm::CmpInst::FCMP_UNO : llvm::CmpInst::FCMP_ORD;
    llvm::Value *comparison = b.CreateFCmp(predicate, number, number);
    comparison->takeName(call);
    call->replaceAllUsesWith(comparison);
    call->eraseFromParent();
  }
  return {};
}

const Pass compare_nans{"compare_nans", "ask whether a number is NaN by a comparison", run};

} // namespace opsight::lower::native
