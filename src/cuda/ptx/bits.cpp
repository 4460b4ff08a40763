// Logic, shifts, and instructions on single bits and bytes: "Logic and Shift Instructions" of the PTX ISA, and bfe,
// bfi, prmt and their kin. A shift by the width or more is defined in PTX and not in LLVM.
#include "cuda/ptx/site.h"

namespace opsight::cuda::ptx {
namespace {
using llvm::ArrayRef, llvm::IRBuilder, llvm::Value;
using Op = llvm::Instruction;
namespace I = llvm::Intrinsic;

template <Op::BinaryOps code> Value *plain(Site &site, ArrayRef<Value *> v) {
  return site.b.CreateBinOp(code, v[0], v[1]);
}
Value *inverse(Site &site, ArrayRef<Value *> v) { return site.b.CreateNot(v[0]); }
Value *reversed(Site &site, ArrayRef<Value *> v) { return site.b.CreateUnaryIntrinsic(I::bitreverse, v[0]); }

Value *limited(IRBuilder<> &b, Value *amount, uint32_t most) {
  return b.CreateBinaryIntrinsic(I::umin, amount, b.getInt32(most));
}

/// The amount has 32 bits whatever is shifted, and counts no further than the width.
void shift(Site &site) {
  IRBuilder<> &b = site.b;
  const Type &type = site.type();
  Value *value = site.value(1, type), *amount = site.bits(2, 32);
  llvm::Type *integer = value->getType();
  Value *within = b.CreateZExtOrTrunc(limited(b, amount, type.bits - 1), integer);
  Value *result = nullptr;
  if (site.statement.words[0] == "shr" && type.isSigned()) {
    result = b.CreateAShr(value, within);
  } else {
    result = site.statement.words[0] == "shl" ? b.CreateShl(value, within) : b.CreateLShr(value, within);
    Value *beyond = b.CreateICmpUGE(amount, b.getInt32(type.bits));
    result = b.CreateSelect(beyond, llvm::Constant::getNullValue(integer), result);
  }
  site.writeValue(0, result, type);
}

/// shf: the words b:a shifted together; .wrap counts modulo 32, .clamp up to 32.
template <bool left> void funnel(Site &site) {
  IRBuilder<> &b = site.b;
  Value *low = site.bits(1, 32), *high = site.bits(2, 32), *amount = site.bits(3, 32);
  Value *result = b.CreateIntrinsic(left ? I::fshl : I::fshr, {b.getInt32Ty()}, {high, low, amount});
  if (site.has("clamp") == site.has("wrap"))
    return site.refuse("it needs .wrap or .clamp");
  if (site.has("clamp"))
    result = b.CreateSelect(b.CreateICmpUGE(amount, b.getInt32(32)), left ? low : high, result);
  site.write(site.operand(0), result);
}

void countOnes(Site &site) {
  Value *count = site.b.CreateUnaryIntrinsic(I::ctpop, site.value(1, site.type()));
  site.write(site.operand(0), site.b.CreateZExtOrTrunc(count, site.b.getInt32Ty()));
}
Value *leadingZeros(Site &site, Value *value) {
  Value *count = site.b.CreateBinaryIntrinsic(I::ctlz, value, site.b.getFalse());
  return site.b.CreateZExtOrTrunc(count, site.b.getInt32Ty());
}
void countLeadingZeros(Site &site) { site.write(site.operand(0), leadingZeros(site, site.value(1, site.type()))); }

/// The position of the highest bit that differs from the sign, or all ones.
void findHighest(Site &site) {
  IRBuilder<> &b = site.b;
  Value *value = site.value(1, site.type());
  if (site.type().isSigned())
    value = b.CreateXor(value, b.CreateAShr(value, site.type().bits - 1));
  Value *zeros = leadingZeros(site, value);
  Value *position = b.CreateSub(b.getInt32(site.type().bits - 1), zeros);
  if (site.has("shiftamt")) // how far to shift it to the top
    position = b.CreateSelect(b.CreateIsNull(value), b.getInt32(~0u), zeros);
  site.write(site.operand(0), position);
}

Value *lowByte(Site &site, size_t i) { return site.b.CreateAnd(site.bits(i, 32), 0xff); }

/// As many ones as `length` says, up to 32, in 64 bits.
Value *ones(IRBuilder<> &b, Value *length) {
  Value *count = b.CreateZExt(limited(b, length, 32), b.getInt64Ty());
  return b.CreateSub(b.CreateShl(b.getInt64(1), count), b.getInt64(1));
}

void extractField(Site &site) {
  IRBuilder<> &b = site.b;
  bool isSigned = site.type().isSigned();
  Value *word = site.bits(1, 32), *position = lowByte(site, 2), *length = lowByte(site, 3);
  Value *wide = isSigned ? b.CreateSExt(word, b.getInt64Ty()) : b.CreateZExt(word, b.getInt64Ty());
  Value *from = b.CreateZExt(limited(b, position, 32), b.getInt64Ty());
  Value *field = nullptr;
  if (isSigned) {
    Value *spare = b.CreateSub(b.getInt64(64), b.CreateZExt(limited(b, length, 32), b.getInt64Ty()));
    spare = b.CreateBinaryIntrinsic(I::umin, spare, b.getInt64(63)); // length 0 is answered below
    field = b.CreateAShr(b.CreateShl(b.CreateAShr(wide, from), spare), spare);
    field = b.CreateSelect(b.CreateIsNull(length), b.getInt64(0), field);
  } else {
    field = b.CreateAnd(b.CreateLShr(wide, from), ones(b, length));
  }
  site.write(site.operand(0), b.CreateTrunc(field, b.getInt32Ty()));
}

void insertField(Site &site) {
  IRBuilder<> &b = site.b;
  Value *from = b.CreateZExt(limited(b, lowByte(site, 3), 32), b.getInt64Ty());
  Value *mask = b.CreateTrunc(b.CreateShl(ones(b, lowByte(site, 4)), from), b.getInt32Ty());
  Value *moved = b.CreateTrunc(b.CreateShl(b.CreateZExt(site.bits(1, 32), b.getInt64Ty()), from), b.getInt32Ty());
  site.write(site.operand(0), b.CreateOr(b.CreateAnd(site.bits(2, 32), b.CreateNot(mask)), b.CreateAnd(moved, mask)));
}

/// Four bytes chosen of eight by the nibbles of the selector; a nibble's top bit asks for the byte's sign instead.
void permute(Site &site) {
  IRBuilder<> &b = site.b;
  Value *low = site.bits(1, 32), *high = site.bits(2, 32), *selector = site.bits(3, 32), *result = b.getInt32(0);
  for (unsigned i = 0; i < 4; ++i) {
    auto asks = [&](unsigned bits) { return b.CreateIsNotNull(b.CreateAnd(selector, bits << 4 * i)); };
    Value *by = b.CreateShl(b.CreateAnd(b.CreateLShr(selector, 4 * i), 3), 3);
    Value *word = b.CreateLShr(b.CreateSelect(asks(4), high, low), by), *byte = b.CreateAnd(word, 0xff);
    Value *sign = b.CreateSelect(b.CreateIsNotNull(b.CreateAnd(word, 0x80)), b.getInt32(0xff), b.getInt32(0));
    result = b.CreateOr(result, b.CreateShl(b.CreateSelect(asks(8), sign, byte), 8 * i));
  }
  site.write(site.operand(0), result);
}

/// Any function of three bits, by its table: bit 4a + 2b + c of the last operand.
void anyLogic(Site &site) {
  IRBuilder<> &b = site.b;
  std::optional<int64_t> table = site.constant(site.operand(4));
  if (!table || *table < 0 || *table > 255)
    return site.refuse("its table is no number from 0 to 255");
  Value *inputs[] = {site.bits(1, 32), site.bits(2, 32), site.bits(3, 32)}, *result = b.getInt32(0);
  for (unsigned row = 0; row < 8; ++row) {
    if (!(*table >> row & 1))
      continue;
    Value *term = b.getInt32(~0u);
    for (unsigned i = 0; i < 3; ++i)
      term = b.CreateAnd(term, row >> (2 - i) & 1 ? inputs[i] : b.CreateNot(inputs[i]));
    result = b.CreateOr(result, term);
  }
  site.write(site.operand(0), result);
}

constexpr llvm::StringRef patterns = "pred b16 b32 b64", words = "b32 b64", integers = "u32 s32 u64 s64";
constexpr Row rows[] = {
    {"and", "", patterns, 1, 3, 3, elementwise<plain<Op::And>>},
    {"or", "", patterns, 1, 3, 3, elementwise<plain<Op::Or>>},
    {"xor", "", patterns, 1, 3, 3, elementwise<plain<Op::Xor>>},
    {"not", "", patterns, 1, 2, 2, elementwise<inverse>},
    {"shl", "", "b16 b32 b64", 1, 3, 3, shift},
    {"shr", "", "b16 b32 b64 u16 u32 u64 s16 s32 s64", 1, 3, 3, shift},
    {"shf.l", "wrap clamp", "b32", 1, 4, 4, funnel<true>},
    {"shf.r", "wrap clamp", "b32", 1, 4, 4, funnel<false>},
    {"popc", "", words, 1, 2, 2, countOnes},
    {"clz", "", words, 1, 2, 2, countLeadingZeros},
    {"brev", "", words, 1, 2, 2, elementwise<reversed>},
    {"bfind", "shiftamt", integers, 1, 2, 2, findHighest},
    {"bfe", "", "u32 s32", 1, 4, 4, extractField},
    {"bfi", "", "b32", 1, 5, 5, insertField},
    {"prmt", "", "b32", 1, 4, 4, permute},
    {"lop3", "", "b32", 1, 5, 5, anyLogic},
};
} // namespace

ArrayRef<Row> bitRows() { return rows; }

} // namespace opsight::cuda::ptx
