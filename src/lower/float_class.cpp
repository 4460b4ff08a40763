// See float_class.h.
#include "lower/float_class.h"
#include <llvm/ADT/FloatingPointMode.h>

namespace opsight::lower {

using llvm::Value;

namespace {
struct Class {
  unsigned positive, negative;
  uint64_t least, most; // of the number's bits without its sign
};
} // namespace

Value *isOfClass(llvm::IRBuilderBase &b, Value *bits, unsigned fractionBits, unsigned mask) {
  unsigned width = bits->getType()->getScalarSizeInBits();
  auto number = [&](uint64_t value) { return llvm::ConstantInt::get(bits->getType(), value); };
  uint64_t sign = uint64_t(1) << (width - 1), leastNormal = uint64_t(1) << fractionBits, infinity = sign - leastNormal,
           quiet = infinity | leastNormal >> 1;
  const Class classes[] = {{llvm::fcPosZero, llvm::fcNegZero, 0, 0},
                           {llvm::fcPosSubnormal, llvm::fcNegSubnormal, 1, leastNormal - 1},
                           {llvm::fcPosNormal, llvm::fcNegNormal, leastNormal, infinity - 1},
                           {llvm::fcPosInf, llvm::fcNegInf, infinity, infinity},
                           {llvm::fcSNan, llvm::fcSNan, infinity + 1, quiet - 1},
                           {llvm::fcQNan, llvm::fcQNan, quiet, sign - 1}};
  Value *magnitude = b.CreateAnd(bits, number(sign - 1));
  Value *negative = b.CreateICmpNE(b.CreateAnd(bits, number(sign)), number(0));
  Value *result = llvm::Constant::getNullValue(negative->getType());
  for (const Class &one : classes) {
    if (!(mask & (one.positive | one.negative)))
      continue;
    Value *within = b.CreateICmpULE(b.CreateSub(magnitude, number(one.least)), number(one.most - one.least));
    if (!(mask & one.negative))
      within = b.CreateAnd(within, b.CreateNot(negative));
    else if (!(mask & one.positive))
      within = b.CreateAnd(within, negative);
    result = b.CreateOr(result, within);
  }
  return result;
}

} // namespace opsight::lower
