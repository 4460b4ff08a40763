// See half_bits.h. A half is s eeeee ffffffffff: exponent 0 is zero and the subnormals, multiples of 2⁻²⁴; 31 is
// infinity and NaN.
#include "lower/half_bits.h"

namespace opsight::lower {

using llvm::IRBuilderBase, llvm::Type, llvm::Value;

namespace {
constexpr uint32_t halfSign = 0x8000, halfMagnitude = 0x7FFF, halfInfinity = 0x7C00, halfQuiet = 0x0200,
                   halfLeastNormal = 0x0400;
constexpr uint32_t floatMagnitude = 0x7FFFFFFF, floatInfinity = 0x7F800000, floatQuiet = 0x00400000;
constexpr unsigned droppedBits = 23 - 10;             // of a float's fraction
constexpr uint32_t rebias = uint32_t(127 - 15) << 23; // between the exponents, in a float's place
} // namespace

static Type *sameShape(Value *value, Type *scalar) { return value->getType()->getWithNewType(scalar); }
static Value *number(Value *like, uint64_t value) { return llvm::ConstantInt::get(like->getType(), value); }

Value *floatOfHalf(IRBuilderBase &b, Value *bits) {
  Type *word = sameShape(bits, b.getInt32Ty()), *real = sameShape(bits, b.getFloatTy());
  Value *wide = b.CreateZExt(bits, word);
  Value *magnitude = b.CreateAnd(wide, number(wide, halfMagnitude));
  Value *moved = b.CreateShl(magnitude, number(wide, droppedBits));
  Value *normal = b.CreateAdd(moved, number(wide, rebias));
  // 2⁻²⁴ times an integer is exact and a normal float.
  Value *small = b.CreateFMul(b.CreateUIToFP(magnitude, real), llvm::ConstantFP::get(real, 0x1p-24));
  Value *infinite = b.CreateOr(moved, number(wide, floatInfinity));
  Value *quiet = b.CreateOr(infinite, number(wide, floatQuiet));
  Value *result = b.CreateSelect(b.CreateICmpULT(magnitude, number(wide, halfLeastNormal)), b.CreateBitCast(small, word),
                                 normal);
  result = b.CreateSelect(b.CreateICmpEQ(magnitude, number(wide, halfInfinity)), infinite, result);
  result = b.CreateSelect(b.CreateICmpUGT(magnitude, number(wide, halfInfinity)), quiet, result);
  Value *sign = b.CreateShl(b.CreateAnd(wide, number(wide, halfSign)), number(wide, 16));
  return b.CreateBitCast(b.CreateOr(result, sign), real);
}

static Value *roundFloat(IRBuilderBase &b, Value *from) {
  Type *word = sameShape(from, b.getInt32Ty()), *real = from->getType();
  Value *bits = b.CreateBitCast(from, word);
  Value *magnitude = b.CreateAnd(bits, number(bits, floatMagnitude));
  // Just under half of the last place kept, plus its parity: the carry rounds, up to infinity where it must.
  Value *odd = b.CreateAnd(b.CreateLShr(bits, number(bits, droppedBits)), number(bits, 1));
  Value *bias = b.CreateAdd(odd, number(bits, (1u << (droppedBits - 1)) - 1 - rebias));
  Value *normal = b.CreateLShr(b.CreateAdd(magnitude, bias), number(bits, droppedBits));
  // The last place of a float in [½, 1) is 2⁻²⁴, a half's least subnormal: the float's own addition rounds.
  Value *half = llvm::ConstantFP::get(real, 0.5);
  Value *shifted = b.CreateBitCast(b.CreateFAdd(b.CreateBitCast(magnitude, real), half), word);
  Value *small = b.CreateSub(shifted, b.CreateBitCast(half, word));
  Value *payload = b.CreateAnd(b.CreateLShr(magnitude, number(bits, droppedBits)), number(bits, halfMagnitude));
  Value *quiet = b.CreateOr(payload, number(bits, halfInfinity | halfQuiet));
  Value *result = b.CreateSelect(b.CreateICmpULT(magnitude, number(bits, (halfLeastNormal << droppedBits) + rebias)),
                                 small, normal);
  uint64_t tooLarge = (uint64_t(halfInfinity) << droppedBits) + rebias; // 65536
  result = b.CreateSelect(b.CreateICmpUGE(magnitude, number(bits, tooLarge)), number(bits, halfInfinity), result);
  result = b.CreateSelect(b.CreateICmpUGT(magnitude, number(bits, floatInfinity)), quiet, result);
  Value *sign = b.CreateAnd(b.CreateLShr(bits, number(bits, 16)), number(bits, halfSign));
  return b.CreateTrunc(b.CreateOr(result, sign), sameShape(from, b.getInt16Ty()));
}

// Rounding to odd: of the two floats around an inexact value the one with an odd last bit. It is never on a boundary
// between halves, so the second rounding goes where one alone would. `away`: the exact value is beyond `nearest`.
static Value *makeOdd(IRBuilderBase &b, Value *nearest, Value *inexact, Value *away) {
  Value *bits = b.CreateBitCast(nearest, sameShape(nearest, b.getInt32Ty()));
  Value *even = b.CreateICmpEQ(b.CreateAnd(bits, number(bits, 1)), number(bits, 0));
  Value *step = b.CreateSelect(away, number(bits, 1), llvm::Constant::getAllOnesValue(bits->getType()));
  step = b.CreateSelect(b.CreateAnd(inexact, even), step, number(bits, 0));
  return b.CreateBitCast(b.CreateAdd(bits, step), nearest->getType());
}

Value *roundToHalf(IRBuilderBase &b, Value *real) {
  if (real->getType()->getScalarType()->isFloatTy())
    return roundFloat(b, real);
  Value *nearest = b.CreateFPTrunc(real, sameShape(real, b.getFloatTy()));
  Value *back = b.CreateFPExt(nearest, real->getType());
  auto magnitude = [&](Value *value) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value); };
  Value *away = b.CreateFCmpOGT(magnitude(real), magnitude(back));
  return roundFloat(b, makeOdd(b, nearest, b.CreateFCmpONE(real, back), away));
}

// The product of two halves has 22 bits and is exact in a float; so is the error of its sum with a third (Knuth's
// two-sum), which says on which side of the rounded sum the exact one lies. No operand is below 2⁻⁴⁸.
Value *fuseHalves(IRBuilderBase &b, Value *x, Value *y, Value *z) {
  Value *product = b.CreateFMul(floatOfHalf(b, x), floatOfHalf(b, y)), *addend = floatOfHalf(b, z);
  Value *sum = b.CreateFAdd(product, addend);
  Value *part = b.CreateFSub(sum, product);
  Value *error = b.CreateFAdd(b.CreateFSub(product, b.CreateFSub(sum, part)), b.CreateFSub(addend, part));
  Value *zero = llvm::Constant::getNullValue(sum->getType());
  Value *away = b.CreateICmpEQ(b.CreateFCmpOLT(error, zero), b.CreateFCmpOLT(sum, zero));
  return roundFloat(b, makeOdd(b, sum, b.CreateFCmpONE(error, zero), away));
}

} // namespace opsight::lower
