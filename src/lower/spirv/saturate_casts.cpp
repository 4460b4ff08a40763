// saturate_casts: a float that does not fit an integer becomes the nearest integer that does, as on CUDA hardware
// (cvt.rzi); LLVM and SPIR-V leave it undefined, x86 gives INT_MIN. A NaN becomes 0, or 1 << 63 where the integer is a
// 64-bit one, or the top bit where the float is a double (PTX ISA, cvt). Bytes and shorts are made from 32 bits, as nvcc
// does. Vectors are no CUDA types and stay as they are.
#include "lower/spirv/passes.h"
#include <cmath>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace opsight::lower::spirv {

using llvm::APInt, llvm::Value;

static Value *saturate(llvm::CastInst *cast) {
  llvm::IRBuilder<> b(cast);
  bool isSigned = cast->getOpcode() == llvm::Instruction::FPToSI;
  Value *from = cast->getOperand(0);
  llvm::Type *type = from->getType();
  unsigned width = std::max(32u, cast->getType()->getIntegerBitWidth());
  llvm::IntegerType *wide = b.getIntNTy(width);
  APInt least = isSigned ? APInt::getSignedMinValue(width) : APInt::getZero(width);
  APInt most = isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  double above = std::ldexp(1.0, int(isSigned ? width - 1 : width)); // a power of two, so exact; infinite as a half
  Value *tooSmall = b.CreateFCmpOLE(from, llvm::ConstantFP::get(type, isSigned ? -above : 0.0));
  Value *tooLarge = b.CreateFCmpOGE(from, llvm::ConstantFP::get(type, above));
  bool nanIsTopBit = type->isDoubleTy() || width == 64;
  Value *ofNan = b.getInt(nanIsTopBit ? APInt::getSignedMinValue(width) : APInt::getZero(width));
  Value *result = b.CreateCast(cast->getOpcode(), from, wide);
  result = b.CreateSelect(tooSmall, b.getInt(least), result);
  result = b.CreateSelect(tooLarge, b.getInt(most), result);
  result = b.CreateSelect(b.CreateFCmpUNO(from, from), ofNan, result);
  return b.CreateTrunc(result, cast->getType());
}

static Status run(Context &context) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel))) {
    auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction);
    bool toInteger = cast && (llvm::isa<llvm::FPToSIInst>(cast) || llvm::isa<llvm::FPToUIInst>(cast));
    if (!toInteger || cast->getType()->isVectorTy() || cast->getType()->getIntegerBitWidth() > 64)
      continue;
    cast->replaceAllUsesWith(saturate(cast));
    cast->eraseFromParent();
  }
  return {};
}

const Pass saturate_casts{"saturate_casts", "give floats that do not fit an integer CUDA's result", run};

} // namespace opsight::lower::spirv
