// widen_indices: a 32-bit index is extended to 64 bits before it becomes an address, and `sext(row * width + lane)` is
// no pattern: the sum might wrap. Where the source's arithmetic may not (signed overflow is undefined), the extension
// moves down to the operands, which makes of the lane's part a constant again. It is exact for each thread that is there;
// what the others compute is never used.
#include "lower/warp/divergence.h"
#include "lower/warp/passes.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>

namespace opsight::lower::warp {

using llvm::Instruction, llvm::Value;

constexpr unsigned deepest = 8;

// Whether extending the operands gives the extension of the result.
static bool keepsValue(const llvm::BinaryOperator &operation, bool isSigned) {
  switch (operation.getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul: return isSigned ? operation.hasNoSignedWrap() : operation.hasNoUnsignedWrap();
  case Instruction::Shl:
    return llvm::isa<llvm::ConstantInt>(operation.getOperand(1)) &&
           (isSigned ? operation.hasNoSignedWrap() : operation.hasNoUnsignedWrap());
  case Instruction::Or: return llvm::cast<llvm::PossiblyDisjointInst>(operation).isDisjoint();
  default: return false;
  }
}

static Value *widen(llvm::IRBuilder<> &b, Value *value, llvm::Type *type, bool isSigned, llvm::UniformityInfo &uniformity,
                    unsigned depth) {
  auto *operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
  bool goesDown = operation && depth < deepest && uniformity.isDivergent(operation) && keepsValue(*operation, isSigned);
  if (!goesDown)
    return isSigned ? b.CreateSExt(value, type) : b.CreateZExt(value, type);
  Value *left = widen(b, operation->getOperand(0), type, isSigned, uniformity, depth + 1);
  Value *right = widen(b, operation->getOperand(1), type, isSigned, uniformity, depth + 1);
  Value *wide = b.CreateBinOp(operation->getOpcode(), left, right);
  if (auto *made = llvm::dyn_cast<Instruction>(wide))
    made->copyIRFlags(operation);
  return wide;
}

static Status run(Context &context) {
  WarpAnalyses analyses;
  auto &uniformity = analyses.functions.getResult<llvm::UniformityInfoAnalysis>(*context.kernel);
  llvm::SmallVector<llvm::CastInst *> extensions;
  for (Instruction &instruction : llvm::instructions(*context.kernel)) {
    auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction);
    bool extends = cast && (llvm::isa<llvm::SExtInst>(cast) || llvm::isa<llvm::ZExtInst>(cast));
    if (extends && cast->getType()->isIntegerTy(64) && uniformity.isDivergent(cast) &&
        llvm::isa<llvm::BinaryOperator>(cast->getOperand(0)))
      extensions.push_back(cast);
  }
  for (llvm::CastInst *cast : extensions) {
    auto &inner = llvm::cast<llvm::BinaryOperator>(*cast->getOperand(0));
    bool unsignedOnly = llvm::isa<llvm::ZExtInst>(cast) && !cast->hasNonNeg();
    bool isSigned = !unsignedOnly && keepsValue(inner, true); // a number that is not negative extends either way
    if (!isSigned && !(llvm::isa<llvm::ZExtInst>(cast) && keepsValue(inner, false)))
      continue;
    llvm::IRBuilder<> b(cast);
    Value *wide = widen(b, &inner, cast->getType(), isSigned, uniformity, 0);
    cast->replaceAllUsesWith(wide);
    cast->eraseFromParent();
  }
  return {};
}

const Pass widen_indices{"widen_indices", "extensions of indices move to what differs between threads", run};

} // namespace opsight::lower::warp
