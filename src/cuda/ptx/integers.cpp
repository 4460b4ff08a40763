// Arithmetic on integers, as the PTX ISA's "Integer Arithmetic Instructions" has it.
#include "cuda/ptx/site.h"

namespace opsight::cuda::ptx {
namespace {
using llvm::ArrayRef, llvm::Value;
using Op = llvm::Instruction;

template <Op::BinaryOps code> Value *plain(Site &site, ArrayRef<Value *> v) {
  return site.b.CreateBinOp(code, v[0], v[1]);
}
template <llvm::Intrinsic::ID id> Value *ofTwo(Site &site, ArrayRef<Value *> v) {
  return site.b.CreateBinaryIntrinsic(id, v[0], v[1]);
}
template <llvm::Intrinsic::ID whenSigned, llvm::Intrinsic::ID unless> Value *bySign(Site &site, ArrayRef<Value *> v) {
  return site.b.CreateBinaryIntrinsic(site.type().isSigned() ? whenSigned : unless, v[0], v[1]);
}
template <Op::BinaryOps whenSigned, Op::BinaryOps unless> Value *dividing(Site &site, ArrayRef<Value *> v) {
  return site.b.CreateBinOp(site.type().isSigned() ? whenSigned : unless, v[0], v[1]);
}
Value *negative(Site &site, ArrayRef<Value *> v) { return site.b.CreateNeg(v[0]); }
Value *absolute(Site &site, ArrayRef<Value *> v) {
  return site.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, v[0], site.b.getFalse());
}

Value *widened(Site &site, Value *value, unsigned width) {
  return site.type().isSigned() ? site.b.CreateSExt(value, site.b.getIntNTy(width))
                                : site.b.CreateZExt(value, site.b.getIntNTy(width));
}
Value *wideProduct(Site &site, Value *x, Value *y) {
  unsigned width = 2 * site.type().bits;
  return site.b.CreateMul(widened(site, x, width), widened(site, y, width));
}
Value *highHalf(Site &site, ArrayRef<Value *> v) {
  return site.b.CreateTrunc(site.b.CreateLShr(wideProduct(site, v[0], v[1]), site.type().bits), v[0]->getType());
}
Value *lowThenAdd(Site &site, ArrayRef<Value *> v) { return site.b.CreateAdd(site.b.CreateMul(v[0], v[1]), v[2]); }
Value *highThenAdd(Site &site, ArrayRef<Value *> v) { return site.b.CreateAdd(highHalf(site, v), v[2]); }

/// mul.wide and mad.wide: a result of twice the width.
void wide(Site &site) {
  const Type &type = site.type();
  Type twice{type.kind, 2 * type.bits};
  Value *result = wideProduct(site, site.value(1, type), site.value(2, type));
  if (site.operandCount() == 4)
    result = site.b.CreateAdd(result, site.value(3, twice));
  site.writeValue(0, result, twice);
}

Value *difference(Site &site, ArrayRef<Value *> v) { // sad: |a - b| + c
  Value *bigger = bySign<llvm::Intrinsic::smax, llvm::Intrinsic::umax>(site, v);
  Value *smaller = bySign<llvm::Intrinsic::smin, llvm::Intrinsic::umin>(site, v);
  return site.b.CreateAdd(site.b.CreateSub(bigger, smaller), v[2]);
}

/// add.cc, addc, sub.cc, subc: the carry goes from one statement to the next of the same text.
template <bool subtracts, bool takesCarry> void carrying(Site &site) {
  llvm::IRBuilder<> &b = site.b;
  const Type &type = site.type();
  Value *x = site.value(1, type), *y = site.value(2, type);
  Value *result = subtracts ? b.CreateSub(x, y) : b.CreateAdd(x, y);
  Value *leaves = subtracts ? b.CreateICmpULT(x, y) : b.CreateICmpULT(result, x);
  if (takesCarry) {
    if (!site.registers.carry)
      return site.refuse("no statement before it in this text leaves a carry");
    Value *carry = b.CreateZExt(site.registers.carry, x->getType()), *before = result;
    result = subtracts ? b.CreateSub(before, carry) : b.CreateAdd(before, carry);
    leaves = b.CreateOr(leaves, subtracts ? b.CreateICmpULT(before, carry) : b.CreateICmpULT(result, before));
  }
  if (!takesCarry || site.has("cc"))
    site.registers.carry = leaves;
  site.writeValue(0, result, type);
}

/// d = c + the sum of the products of four bytes each.
void dotOfBytes(Site &site) {
  llvm::IRBuilder<> &b = site.b;
  Value *sum = site.bits(3, 32);
  for (unsigned i = 0; i < 4; ++i) {
    Value *factors[2];
    for (unsigned side : {0u, 1u}) {
      Value *atTop = b.CreateShl(site.bits(1 + side, 32), 24 - 8 * i);
      factors[side] = site.type(side).isSigned() ? b.CreateAShr(atTop, 24) : b.CreateLShr(atTop, 24);
    }
    sum = b.CreateAdd(sum, b.CreateMul(factors[0], factors[1]));
  }
  site.write(site.operand(0), sum);
}

constexpr llvm::StringRef integers = "u16 s16 u32 s32 u64 s64", narrow = "u16 s16 u32 s32", ofSign = "s16 s32 s64";
constexpr llvm::StringRef words = "u32 s32 u64 s64";
namespace I = llvm::Intrinsic;
constexpr Row rows[] = {
    {"add", "", integers, 1, 3, 3, elementwise<plain<Op::Add>>},
    {"add.sat", "", "s32", 1, 3, 3, elementwise<ofTwo<I::sadd_sat>>},
    {"add.cc", "", words, 1, 3, 3, carrying<false, false>},
    {"addc", "cc", words, 1, 3, 3, carrying<false, true>},
    {"sub", "", integers, 1, 3, 3, elementwise<plain<Op::Sub>>},
    {"sub.sat", "", "s32", 1, 3, 3, elementwise<ofTwo<I::ssub_sat>>},
    {"sub.cc", "", words, 1, 3, 3, carrying<true, false>},
    {"subc", "cc", words, 1, 3, 3, carrying<true, true>},
    {"mul.lo", "", integers, 1, 3, 3, elementwise<plain<Op::Mul>>},
    {"mul.hi", "", integers, 1, 3, 3, elementwise<highHalf>},
    {"mul.wide", "", narrow, 1, 3, 3, wide},
    {"mad.lo", "", integers, 1, 4, 4, elementwise<lowThenAdd>},
    {"mad.hi", "", integers, 1, 4, 4, elementwise<highThenAdd>},
    {"mad.wide", "", narrow, 1, 4, 4, wide},
    {"div", "", integers, 1, 3, 3, elementwise<dividing<Op::SDiv, Op::UDiv>>},
    {"rem", "", integers, 1, 3, 3, elementwise<dividing<Op::SRem, Op::URem>>},
    {"min", "", integers, 1, 3, 3, elementwise<bySign<I::smin, I::umin>>},
    {"max", "", integers, 1, 3, 3, elementwise<bySign<I::smax, I::umax>>},
    {"abs", "", ofSign, 1, 2, 2, elementwise<absolute>},
    {"neg", "", ofSign, 1, 2, 2, elementwise<negative>},
    {"sad", "", integers, 1, 4, 4, elementwise<difference>},
    {"dp4a", "", "u32 s32", 2, 4, 4, dotOfBytes},
};
} // namespace

ArrayRef<Row> integerRows() { return rows; }

} // namespace opsight::cuda::ptx
