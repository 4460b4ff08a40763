// What moves, converts, compares and chooses values: mov, cvt, cvta, setp, selp.
#include "cuda/ptx/shared_numbers.h"
#include "cuda/ptx/site.h"
#include <cmath>

namespace opsight::cuda::ptx {
namespace {
using llvm::IRBuilder, llvm::Value;
using Kind = Type::Kind;
using Compare = llvm::CmpInst::Predicate;
namespace I = llvm::Intrinsic;

/// mov, also between a register and a vector of the pieces that make it up, lowest first.
void move(Site &site) {
  IRBuilder<> &b = site.b;
  const Operand &to = site.operand(0), &from = site.operand(1);
  unsigned width = site.type().width();
  auto isVector = [](const Operand &operand) { return operand.kind == Operand::Kind::Vector; };
  if (!isVector(to) && !isVector(from))
    return site.writeElements(0, site.elements(1, site.type()), site.type());
  const Operand &vector = isVector(to) ? to : from;
  unsigned part = width / unsigned(vector.parts.size());
  if ((isVector(to) && isVector(from)) || part * vector.parts.size() != width || part < 8)
    return site.refuse("its vector does not fit its type");
  if (isVector(to)) {
    Value *word = site.bits(1, width);
    for (size_t i = 0; i < to.parts.size(); ++i)
      site.write(to.parts[i], b.CreateTrunc(b.CreateLShr(word, i * part), b.getIntNTy(part)));
    return;
  }
  Value *word = llvm::Constant::getNullValue(b.getIntNTy(width));
  for (size_t i = 0; i < from.parts.size(); ++i)
    word = b.CreateOr(word, b.CreateShl(b.CreateZExt(site.bits(from.parts[i], part), word->getType()), i * part));
  site.write(to, word);
}

/// cvta.to.shared gives the number by which PTX names the place, cvta.shared goes back; other spaces are one with the
/// generic one.
void convertAddress(Site &site) {
  IRBuilder<> &b = site.b;
  Value *given = site.bits(1, 64);
  if (site.has("shared") && site.has("to")) {
    Value *number = createSharedNumber(b, b.CreateIntToPtr(given, b.getPtrTy()));
    given = b.CreateZExt(number, b.getInt64Ty());
  } else if (site.has("shared")) {
    Value *pointer = createSharedPointer(b, b.CreateTrunc(given, b.getInt32Ty()));
    given = b.CreatePtrToInt(b.CreateAddrSpaceCast(pointer, b.getPtrTy()), b.getInt64Ty());
  }
  site.write(site.operand(0), given);
}

std::optional<I::ID> integralRounding(Site &site) {
  static constexpr std::pair<const char *, I::ID> all[] = {
      {"rni", I::roundeven}, {"rzi", I::trunc}, {"rmi", I::floor}, {"rpi", I::ceil}};
  for (auto [word, id] : all)
    if (site.has(word))
      return id;
  return std::nullopt;
}

Value *integerToFloat(Site &site, Value *value, const Type &to, const Type &from) {
  if (!site.has("rn"))
    site.refuse("only rounding to nearest (.rn) is there");
  // A bfloat of a wide integer would be rounded twice.
  if (to.kind == Kind::BFloat && from.bits > 16)
    site.refuse("to bfloat from more than 16 bits");
  llvm::Type *result = computedType(site.b.getContext(), to);
  return from.isSigned() ? site.b.CreateSIToFP(value, result) : site.b.CreateUIToFP(value, result);
}

/// What is too large becomes the nearest; NaN becomes 0, or where either side has 64 bits the top bit alone (PTX ISA,
/// cvt). LLVM's own conversion is never asked for what it leaves undefined.
Value *saturating(IRBuilder<> &b, Value *value, const Type &to) {
  llvm::Type *integer = b.getIntNTy(to.bits), *floating = value->getType();
  bool isSigned = to.isSigned();
  llvm::APInt least = isSigned ? llvm::APInt::getSignedMinValue(to.bits) : llvm::APInt::getZero(to.bits);
  llvm::APInt most = isSigned ? llvm::APInt::getSignedMaxValue(to.bits) : llvm::APInt::getMaxValue(to.bits);
  Value *low = llvm::ConstantFP::get(floating, isSigned ? -std::ldexp(1.0, int(to.bits) - 1) : 0.0);
  Value *end = llvm::ConstantFP::get(floating, std::ldexp(1.0, int(to.bits) - isSigned));
  Value *isBelow = b.CreateFCmpOLT(value, low), *isBeyond = b.CreateFCmpOGE(value, end);
  Value *isWithin = b.CreateAnd(b.CreateFCmpOGE(value, low), b.CreateFCmpOLT(value, end));
  Value *within = b.CreateSelect(isWithin, value, llvm::ConstantFP::get(floating, 0.0));
  Value *made = isSigned ? b.CreateFPToSI(within, integer) : b.CreateFPToUI(within, integer);
  made = b.CreateSelect(isBelow, llvm::ConstantInt::get(integer, least), made);
  made = b.CreateSelect(isBeyond, llvm::ConstantInt::get(integer, most), made);
  if (to.bits == 64 || floating->isDoubleTy())
    made = b.CreateSelect(b.CreateFCmpUNO(value, value), llvm::ConstantInt::get(integer, uint64_t(1) << (to.bits - 1)),
                          made);
  return made;
}

Value *floatToInteger(Site &site, Value *value, const Type &to) {
  std::optional<I::ID> rounding = integralRounding(site);
  if (!rounding || to.bits < 32) {
    site.refuse(rounding ? "to less than 32 bits" : "it says not how to round");
    return llvm::Constant::getNullValue(site.b.getIntNTy(to.bits));
  }
  if (value->getType()->isHalfTy())
    value = site.b.CreateFPExt(value, site.b.getFloatTy());
  return saturating(site.b, site.b.CreateUnaryIntrinsic(*rounding, value), to);
}

Value *floatToFloat(Site &site, Value *value, const Type &to, const Type &from) {
  llvm::Type *result = computedType(site.b.getContext(), to);
  if (std::optional<I::ID> rounding = integralRounding(site)) {
    if (to.bits != from.bits)
      site.refuse("it rounds to a whole number and to another type");
    return site.b.CreateUnaryIntrinsic(*rounding, value);
  }
  if (to.bits < from.bits && !site.has("rn"))
    site.refuse("only rounding to nearest (.rn) is there");
  if (from.bits == 64 && to.kind == Kind::BFloat)
    site.refuse("a double would be rounded twice");
  return site.b.CreateFPCast(value, result);
}

void convert(Site &site) {
  IRBuilder<> &b = site.b;
  const Type &to = site.type(0), &from = site.type(1);
  if (to.elements == 2 && from == Type{Kind::Float, 32} && site.operandCount() == 3) { // the first source goes on top
    if (!site.has("rn"))
      return site.refuse("only rounding to nearest (.rn) is there");
    llvm::Type *element = computedType(b.getContext(), to);
    return site.writeElements(
        0, {b.CreateFPCast(site.value(2, from), element), b.CreateFPCast(site.value(1, from), element)}, to);
  }
  if (to.elements != 1 || from.elements != 1 || site.operandCount() != 2)
    return site.refuse("between pairs");
  Value *value = site.value(1, from);
  if (to.isFloat())
    value = from.isFloat() ? floatToFloat(site, value, to, from) : integerToFloat(site, value, to, from);
  else if (from.isFloat())
    value = floatToInteger(site, value, to);
  else
    value = from.isSigned() ? b.CreateSExtOrTrunc(value, b.getIntNTy(to.bits))
                            : b.CreateZExtOrTrunc(value, b.getIntNTy(to.bits));
  site.writeValue(0, value, to);
}

/// To the ten bits of fraction that tf32 has: to nearest, halves away from zero (.rna) or to even (.rn).
void convertToTf32(Site &site) {
  IRBuilder<> &b = site.b;
  Value *word = site.bits(1, 32), *half = b.getInt32(0x1000);
  if (site.has("rn"))
    half = b.CreateAdd(b.getInt32(0xfff), b.CreateAnd(b.CreateLShr(word, 13), 1));
  Value *rounded = b.CreateAnd(b.CreateAdd(word, half), 0xffffe000);
  Value *isFinite = b.CreateICmpULT(b.CreateAnd(word, 0x7fffffff), b.getInt32(0x7f800000));
  site.write(site.operand(0), b.CreateSelect(isFinite, rounded, word));
}

struct Comparison {
  const char *word;
  Compare ofFloats, ofSigned, ofUnsigned;
};
constexpr Compare none = Compare::BAD_ICMP_PREDICATE;
constexpr Comparison comparisons[] = {
    {"eq", Compare::FCMP_OEQ, Compare::ICMP_EQ, Compare::ICMP_EQ},
    {"ne", Compare::FCMP_ONE, Compare::ICMP_NE, Compare::ICMP_NE},
    {"lt", Compare::FCMP_OLT, Compare::ICMP_SLT, Compare::ICMP_ULT},
    {"le", Compare::FCMP_OLE, Compare::ICMP_SLE, Compare::ICMP_ULE},
    {"gt", Compare::FCMP_OGT, Compare::ICMP_SGT, Compare::ICMP_UGT},
    {"ge", Compare::FCMP_OGE, Compare::ICMP_SGE, Compare::ICMP_UGE},
    {"lo", none, none, Compare::ICMP_ULT},
    {"ls", none, none, Compare::ICMP_ULE},
    {"hi", none, none, Compare::ICMP_UGT},
    {"hs", none, none, Compare::ICMP_UGE},
    {"equ", Compare::FCMP_UEQ, none, none},
    {"neu", Compare::FCMP_UNE, none, none},
    {"ltu", Compare::FCMP_ULT, none, none},
    {"leu", Compare::FCMP_ULE, none, none},
    {"gtu", Compare::FCMP_UGT, none, none},
    {"geu", Compare::FCMP_UGE, none, none},
    {"num", Compare::FCMP_ORD, none, none},
    {"nan", Compare::FCMP_UNO, none, none},
};

/// setp: p is the comparison, q its opposite, each joined with a third operand where the statement says how.
void setPredicate(Site &site) {
  IRBuilder<> &b = site.b;
  const Type &type = site.type();
  auto asked = llvm::find_if(comparisons, [&](const Comparison &one) { return site.has(one.word); });
  Compare how = asked == std::end(comparisons) ? none
                : type.isFloat()               ? asked->ofFloats
                : type.isSigned()              ? asked->ofSigned
                                               : asked->ofUnsigned;
  if (how == none)
    return site.refuse("no such comparison of this type");
  bool ordered = how != Compare::ICMP_EQ && how != Compare::ICMP_NE;
  if (type.kind == Kind::Bits && ordered)
    return site.refuse("bits are only the same or not");
  Value *holds = b.CreateCmp(how, site.value(1, type), site.value(2, type)), *not_ = b.CreateNot(holds);
  bool joins = site.has("and") || site.has("or") || site.has("xor");
  if (joins != (site.operandCount() == 4))
    return site.refuse("a third operand goes with .and, .or or .xor");
  if (joins) {
    auto code = site.has("and")  ? llvm::Instruction::And
                : site.has("or") ? llvm::Instruction::Or
                                 : llvm::Instruction::Xor;
    Value *third = site.predicate(site.operand(3));
    holds = b.CreateBinOp(code, holds, third);
    not_ = b.CreateBinOp(code, not_, third);
  }
  site.write({.name = site.operand(0).name}, holds);
  if (!site.operand(0).second.empty())
    site.write({.name = site.operand(0).second}, not_);
}

void select(Site &site) {
  Value *chosen =
      site.b.CreateSelect(site.predicate(site.operand(3)), site.value(1, site.type()), site.value(2, site.type()));
  site.writeValue(0, chosen, site.type());
}

constexpr llvm::StringRef numbers = "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64 f16x2 bf16x2";
constexpr llvm::StringRef registers = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64";
constexpr llvm::StringRef compared = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz";
constexpr Row rows[] = {
    {"mov", "", "pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 f16 f16x2 bf16 bf16x2", 1, 2, 2, move},
    {"cvt.rna.tf32.f32", "", "", 0, 2, 2, convertToTf32},
    {"cvt.rn.tf32.f32", "", "", 0, 2, 2,
     [](Site &site) {
       site.modifiers.push_back("rn");
       convertToTf32(site);
     }},
    {"cvt", "rn rni rzi rmi rpi ftz", numbers, 2, 2, 3, convert},
    {"cvta", "to global shared local const", "u64", 1, 2, 2, convertAddress},
    {"setp", compared, "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f32 f64", 1, 3, 4, setPredicate},
    {"selp", "", registers, 1, 4, 4, select},
};
} // namespace

llvm::ArrayRef<Row> movementRows() { return rows; }

} // namespace opsight::cuda::ptx
