// total_division: integer division as the NVIDIA card does it, for every operand: by zero it gives all ones and the
// remainder the dividend, and the least number by -1 wraps. It must be so for the sake of threads that are not there,
// too: their lanes hold anything, and x86 would trap. Where threads divide different numbers of 32 bits they do so in
// double precision, exactly: quotients of such numbers lie 2^-32 or more apart, and x86 has no vector of divisions.
#include "lower/warp/divergence.h"
#include "lower/warp/passes.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace opsight::lower::warp {

using llvm::Instruction, llvm::Value;

static bool isSigned(const llvm::BinaryOperator &division) {
  return division.getOpcode() == Instruction::SDiv || division.getOpcode() == Instruction::SRem;
}

static Value *quotientInDouble(llvm::IRBuilder<> &b, Value *dividend, Value *divisor, bool withSign) {
  auto real = [&](Value *value) {
    return withSign ? b.CreateSIToFP(value, b.getDoubleTy()) : b.CreateUIToFP(value, b.getDoubleTy());
  };
  Value *quotient = b.CreateFDiv(real(dividend), real(divisor));
  return withSign ? b.CreateFPToSI(quotient, dividend->getType()) : b.CreateFPToUI(quotient, dividend->getType());
}

static void makeTotal(llvm::BinaryOperator &division, bool differs) {
  llvm::IRBuilder<> b(&division);
  llvm::Type *type = division.getType();
  unsigned width = type->getIntegerBitWidth();
  bool withSign = isSigned(division);
  bool wantsRest = division.getOpcode() == Instruction::SRem || division.getOpcode() == Instruction::URem;
  Value *dividend = b.CreateFreeze(division.getOperand(0)), *divisor = b.CreateFreeze(division.getOperand(1));
  Value *one = llvm::ConstantInt::get(type, 1), *byZero = b.CreateIsNull(divisor);
  Value *safe = b.CreateSelect(byZero, one, divisor);
  if (withSign) {
    Value *least = b.CreateICmpEQ(dividend, b.getInt(llvm::APInt::getSignedMinValue(width)));
    Value *wraps = b.CreateAnd(least, b.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type)));
    safe = b.CreateSelect(wraps, one, safe);
  }
  Value *quotient = differs && width <= 32 ? quotientInDouble(b, dividend, safe, withSign)
                    : withSign             ? b.CreateSDiv(dividend, safe)
                                           : b.CreateUDiv(dividend, safe);
  Value *result = wantsRest ? b.CreateSelect(byZero, dividend, b.CreateSub(dividend, b.CreateMul(quotient, safe)))
                            : b.CreateSelect(byZero, llvm::Constant::getAllOnesValue(type), quotient);
  division.replaceAllUsesWith(result);
  division.eraseFromParent();
}

static Status run(Context &context) {
  WarpAnalyses analyses;
  auto &uniformity = analyses.functions.getResult<llvm::UniformityInfoAnalysis>(*context.kernel);
  llvm::SmallVector<std::pair<llvm::BinaryOperator *, bool>> divisions;
  for (Instruction &instruction : llvm::instructions(*context.kernel)) {
    auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
    if (!binary || !binary->isIntDivRem() || binary->getType()->isVectorTy())
      continue;
    auto *constant = llvm::dyn_cast<llvm::ConstantInt>(binary->getOperand(1));
    if (constant && !constant->isZero() && !constant->isMinusOne())
      continue; // LLVM makes multiplications of these, in vectors too
    divisions.push_back({binary, uniformity.isDivergent(binary)});
  }
  for (auto [division, differs] : divisions)
    makeTotal(*division, differs);
  return {};
}

const Pass total_division{"total_division", "integer division has a result for every operand", run};

} // namespace opsight::lower::warp
