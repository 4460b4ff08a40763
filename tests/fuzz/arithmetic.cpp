#include "fuzz/arithmetic.h"
#include <bit>
#include <cmath>
#include <llvm/ADT/APFloat.h>
#include <map>

namespace opsight::fuzz {

using llvm::APInt, llvm::Instruction;

using llvm::APFloat;

static APFloat halfOf(uint64_t word) { return APFloat(APFloat::IEEEhalf(), APInt(16, word & 0xffff)); }
static uint64_t wordOf(const APFloat &value) { return value.bitcastToAPInt().getZExtValue(); }
/// Rounds once, to nearest even.
static uint64_t halfWordOf(APFloat value) {
  bool lost;
  value.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &lost);
  return wordOf(value);
}

double realOf(uint64_t word, unsigned bits) {
  if (bits == 16) {
    APFloat value = halfOf(word);
    bool lost;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return value.convertToDouble();
  }
  return bits == 32 ? double(std::bit_cast<float>(uint32_t(word))) : std::bit_cast<double>(word);
}
static uint64_t wordOf(double value, unsigned bits) {
  if (bits == 16)
    return halfWordOf(APFloat(value));
  return bits == 32 ? uint64_t(std::bit_cast<uint32_t>(float(value))) : std::bit_cast<uint64_t>(value);
}

// In the type itself, so that it rounds once.
template <typename Real> static std::optional<Real> realBinary(unsigned opcode, Real a, Real b) {
  switch (opcode) {
  case Instruction::FAdd:
    return a + b;
  case Instruction::FSub:
    return a - b;
  case Instruction::FMul:
    return a * b;
  case Instruction::FDiv:
    return a / b;
  default:
    return std::nullopt;
  }
}

static uint64_t halfBinary(unsigned opcode, uint64_t first, uint64_t second) {
  APFloat a = halfOf(first), b = halfOf(second);
  constexpr auto nearest = APFloat::rmNearestTiesToEven;
  opcode == Instruction::FAdd   ? a.add(b, nearest)
  : opcode == Instruction::FSub ? a.subtract(b, nearest)
  : opcode == Instruction::FMul ? a.multiply(b, nearest)
                                : a.divide(b, nearest);
  return wordOf(a);
}

std::optional<uint64_t> binary(unsigned opcode, uint64_t first, uint64_t second, unsigned bits) {
  if (opcode == Instruction::FAdd || opcode == Instruction::FSub || opcode == Instruction::FMul ||
      opcode == Instruction::FDiv) {
    if (bits == 16)
      return halfBinary(opcode, first, second);
    if (bits == 32)
      return std::bit_cast<uint32_t>(
          *realBinary(opcode, std::bit_cast<float>(uint32_t(first)), std::bit_cast<float>(uint32_t(second))));
    return std::bit_cast<uint64_t>(*realBinary(opcode, std::bit_cast<double>(first), std::bit_cast<double>(second)));
  }
  APInt a(bits, first), b(bits, second);
  bool isDivision = opcode == Instruction::UDiv || opcode == Instruction::URem || opcode == Instruction::SDiv ||
                    opcode == Instruction::SRem;
  bool isShift = opcode == Instruction::Shl || opcode == Instruction::LShr || opcode == Instruction::AShr;
  if ((isDivision && b.isZero()) || (isShift && b.uge(bits)))
    return std::nullopt;
  switch (opcode) {
  case Instruction::Add:
    return (a + b).getZExtValue();
  case Instruction::Sub:
    return (a - b).getZExtValue();
  case Instruction::Mul:
    return (a * b).getZExtValue();
  case Instruction::And:
    return first & second;
  case Instruction::Or:
    return first | second;
  case Instruction::Xor:
    return first ^ second;
  case Instruction::Shl:
    return a.shl(b).getZExtValue();
  case Instruction::LShr:
    return a.lshr(b).getZExtValue();
  case Instruction::AShr:
    return a.ashr(b).getZExtValue();
  case Instruction::UDiv:
    return a.udiv(b).getZExtValue();
  case Instruction::URem:
    return a.urem(b).getZExtValue();
  case Instruction::SDiv:
    return a.sdiv(b).getZExtValue();
  case Instruction::SRem:
    return a.srem(b).getZExtValue();
  default:
    return std::nullopt;
  }
}

std::optional<uint64_t> converted(unsigned opcode, uint64_t word, unsigned from, unsigned to) {
  APInt value(from, word);
  switch (opcode) {
  case Instruction::ZExt:
  case Instruction::Trunc:
  case Instruction::BitCast:
  case Instruction::AddrSpaceCast:
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
    return word;
  case Instruction::SExt:
    return value.sext(64).getZExtValue();
  case Instruction::FPExt:
  case Instruction::FPTrunc:
    return wordOf(realOf(word, from), to);
  case Instruction::SIToFP:
  case Instruction::UIToFP:
    if (to == 16) {
      APFloat half(APFloat::IEEEhalf());
      half.convertFromAPInt(value, opcode == Instruction::SIToFP, APFloat::rmNearestTiesToEven);
      return wordOf(half);
    }
    if (opcode == Instruction::UIToFP)
      return to == 32 ? std::bit_cast<uint32_t>(float(word)) : wordOf(double(word), to);
    return to == 32 ? std::bit_cast<uint32_t>(float(value.getSExtValue())) : wordOf(double(value.getSExtValue()), to);
  case Instruction::FPToSI:
  case Instruction::FPToUI: {
    double real = realOf(word, from);
    if (!(std::fabs(real) < 2e9)) // larger ones have no meaning in every type
      return std::nullopt;
    return uint64_t(int64_t(real));
  }
  default:
    return std::nullopt;
  }
}

bool compare(llvm::CmpInst::Predicate predicate, const APInt &a, const APInt &b) {
  return llvm::ICmpInst::compare(a, b, predicate);
}

bool compareReals(llvm::CmpInst::Predicate predicate, double a, double b) {
  // The predicate's bits are the outcomes for which it holds: equal, greater, less, unordered.
  unsigned outcome = std::isnan(a) || std::isnan(b) ? 8 : a == b ? 1 : a > b ? 2 : 4;
  return unsigned(predicate) & outcome;
}

std::optional<uint64_t> modified(llvm::AtomicRMWInst::BinOp operation, uint64_t old, uint64_t operand, unsigned bits) {
  APInt a(bits, old), b(bits, operand);
  using Op = llvm::AtomicRMWInst;
  switch (operation) {
  case Op::Add:
    return (a + b).getZExtValue();
  case Op::Sub:
    return (a - b).getZExtValue();
  case Op::And:
    return old & operand;
  case Op::Or:
    return old | operand;
  case Op::Xor:
    return old ^ operand;
  case Op::Xchg:
    return operand;
  case Op::Max:
    return a.sgt(b) ? old : operand;
  case Op::Min:
    return a.slt(b) ? old : operand;
  case Op::UMax:
    return a.ugt(b) ? old : operand;
  case Op::UMin:
    return a.ult(b) ? old : operand;
  default:
    return std::nullopt;
  }
}

using Operands = std::span<const uint64_t>;
using Function = std::optional<uint64_t> (*)(Operands, unsigned bits);
static APInt at(Operands operands, unsigned i, unsigned bits) { return APInt(bits, operands[i]); }

static std::optional<uint64_t> fusedMultiplyAdd(Operands v, unsigned bits) {
  if (bits == 16) {
    APFloat result = halfOf(v[0]);
    result.fusedMultiplyAdd(halfOf(v[1]), halfOf(v[2]), APFloat::rmNearestTiesToEven);
    return wordOf(result);
  }
  if (bits == 32)
    return std::bit_cast<uint32_t>(std::fma(std::bit_cast<float>(uint32_t(v[0])), std::bit_cast<float>(uint32_t(v[1])),
                                            std::bit_cast<float>(uint32_t(v[2]))));
  return wordOf(std::fma(realOf(v[0], 64), realOf(v[1], 64), realOf(v[2], 64)), 64);
}
template <double (*f)(double)> static std::optional<uint64_t> real(Operands v, unsigned bits) {
  return wordOf(f(realOf(v[0], bits)), bits); // exact in double, or rounded twice without harm (sqrt)
}
template <double (*f)(double, double)> static std::optional<uint64_t> ofTwoReals(Operands v, unsigned bits) {
  return wordOf(f(realOf(v[0], bits), realOf(v[1], bits)), bits);
}
static std::optional<uint64_t> funnel(Operands v, unsigned bits, bool left) {
  uint64_t by = v[2] % bits;
  APInt high = at(v, 0, bits), low = at(v, 1, bits);
  if (by == 0)
    return (left ? high : low).getZExtValue();
  return (left ? high.shl(unsigned(by)) | low.lshr(unsigned(bits - by))
               : high.shl(unsigned(bits - by)) | low.lshr(unsigned(by)))
      .getZExtValue();
}

static const std::map<llvm::Intrinsic::ID, Function> &functions() {
  namespace I = llvm::Intrinsic;
  static const std::map<llvm::Intrinsic::ID, Function> table = {
      {I::fma, fusedMultiplyAdd},
      {I::fabs, real<std::fabs>},
      {I::sqrt, real<std::sqrt>},
      {I::floor, real<std::floor>},
      {I::ceil, real<std::ceil>},
      {I::trunc, real<std::trunc>},
      {I::rint, real<std::rint>},
      {I::nearbyint, real<std::rint>},
      {I::roundeven, real<std::rint>},
      {I::maxnum, ofTwoReals<std::fmax>},
      {I::minnum, ofTwoReals<std::fmin>},
      {I::copysign, ofTwoReals<std::copysign>},
      {I::smin,
       [](Operands v, unsigned n) -> std::optional<uint64_t> { return at(v, 0, n).slt(at(v, 1, n)) ? v[0] : v[1]; }},
      {I::smax,
       [](Operands v, unsigned n) -> std::optional<uint64_t> { return at(v, 0, n).sgt(at(v, 1, n)) ? v[0] : v[1]; }},
      {I::umin, [](Operands v, unsigned) -> std::optional<uint64_t> { return std::min(v[0], v[1]); }},
      {I::umax, [](Operands v, unsigned) -> std::optional<uint64_t> { return std::max(v[0], v[1]); }},
      {I::abs, [](Operands v, unsigned n) -> std::optional<uint64_t> { return at(v, 0, n).abs().getZExtValue(); }},
      {I::ctpop, [](Operands v, unsigned n) -> std::optional<uint64_t> { return at(v, 0, n).popcount(); }},
      {I::ctlz, [](Operands v, unsigned n) -> std::optional<uint64_t> { return at(v, 0, n).countl_zero(); }},
      {I::cttz, [](Operands v, unsigned n) -> std::optional<uint64_t> { return at(v, 0, n).countr_zero(); }},
      {I::bswap,
       [](Operands v, unsigned n) -> std::optional<uint64_t> { return at(v, 0, n).byteSwap().getZExtValue(); }},
      {I::bitreverse,
       [](Operands v, unsigned n) -> std::optional<uint64_t> { return at(v, 0, n).reverseBits().getZExtValue(); }},
      {I::fshl, [](Operands v, unsigned n) { return funnel(v, n, true); }},
      {I::fshr, [](Operands v, unsigned n) { return funnel(v, n, false); }},
      {I::uadd_sat,
       [](Operands v, unsigned n) -> std::optional<uint64_t> {
         return at(v, 0, n).uadd_sat(at(v, 1, n)).getZExtValue();
       }},
      {I::usub_sat,
       [](Operands v, unsigned n) -> std::optional<uint64_t> {
         return at(v, 0, n).usub_sat(at(v, 1, n)).getZExtValue();
       }},
      {I::sadd_sat,
       [](Operands v, unsigned n) -> std::optional<uint64_t> {
         return at(v, 0, n).sadd_sat(at(v, 1, n)).getZExtValue();
       }},
      {I::ssub_sat,
       [](Operands v, unsigned n) -> std::optional<uint64_t> {
         return at(v, 0, n).ssub_sat(at(v, 1, n)).getZExtValue();
       }},
  };
  return table;
}

std::optional<uint64_t> function(llvm::Intrinsic::ID id, Operands v, unsigned bits, unsigned resultBits) {
  if (id == llvm::Intrinsic::scmp || id == llvm::Intrinsic::ucmp) {
    APInt a = at(v, 0, bits), b = at(v, 1, bits);
    bool isSigned = id == llvm::Intrinsic::scmp;
    int order = a == b ? 0 : (isSigned ? a.slt(b) : a.ult(b)) ? -1 : 1;
    return APInt(resultBits, uint64_t(int64_t(order)), true, true).getZExtValue();
  }
  auto found = functions().find(id);
  return found == functions().end() ? std::nullopt : found->second(v, bits);
}

} // namespace opsight::fuzz
