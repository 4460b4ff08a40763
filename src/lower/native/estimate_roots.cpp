// estimate_roots: rsqrtf(), which the front end writes as 1 / sqrt(x) with a division that may be inexact, becomes
// AVX-512's estimate and one step of Newton's: six instructions where a root and a division keep the one divider busy
// for fifty cycles. It errs by less than 1.2 units in the last place (CUDA: 2). Vectors of any length give the same
// bits. What is left is divided exactly: LLVM's own estimate makes a NaN of 0 and of infinity.
#include "lower/native/host.h"
#include "lower/native/passes.h"
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/MC/MCSubtargetInfo.h>

namespace opsight::lower::native {

using llvm::IRBuilder, llvm::Value;

static unsigned lanesOf(const Value *value) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector ? vector->getNumElements() : 1;
}

/// x of a reciprocal root of floats that may be estimated; null for all else.
static Value *estimable(llvm::Instruction &instruction) {
  using namespace llvm::PatternMatch;
  Value *x;
  bool matches = match(&instruction, m_FDiv(m_FPOne(), m_Sqrt(m_Value(x)))) && instruction.hasAllowReciprocal() &&
                 x->getType()->getScalarType()->isFloatTy();
  return matches && llvm::isPowerOf2_32(lanesOf(x)) ? x : nullptr;
}

static Value *piece(IRBuilder<> &b, Value *whole, unsigned first, unsigned count) {
  llvm::SmallVector<int> from;
  for (unsigned i = 0; i < count; ++i)
    from.push_back(int(first + i));
  return b.CreateShuffleVector(whole, from);
}

namespace {
/// The instructions for registers of one width.
struct Width {
  unsigned lanes;
  llvm::Intrinsic::ID estimate, fixUp;
};
} // namespace

static Width widthFor(unsigned lanes) {
  if (lanes >= 16)
    return {16, llvm::Intrinsic::x86_avx512_rsqrt14_ps_512, llvm::Intrinsic::x86_avx512_mask_fixupimm_ps_512};
  if (lanes == 8)
    return {8, llvm::Intrinsic::x86_avx512_rsqrt14_ps_256, llvm::Intrinsic::x86_avx512_mask_fixupimm_ps_256};
  return {4, llvm::Intrinsic::x86_avx512_rsqrt14_ps_128, llvm::Intrinsic::x86_avx512_mask_fixupimm_ps_128};
}

/// Of one register.
static Value *reciprocalRoot(IRBuilder<> &b, Value *x, const Width &width) {
  llvm::Type *type = x->getType(), *mask = b.getIntNTy(std::max(8u, width.lanes));
  Value *all = llvm::Constant::getAllOnesValue(mask);
  auto fma = [&](Value *l, Value *r, Value *sum) { return b.CreateIntrinsic(llvm::Intrinsic::fma, type, {l, r, sum}); };
  Value *y = b.CreateIntrinsic(width.estimate, {}, {x, llvm::Constant::getNullValue(type), all}); // to 14 bits
  Value *rest = fma(b.CreateFNeg(b.CreateFMul(x, y)), y, llvm::ConstantFP::get(type, 1.0));       // 1 - x y²
  Value *better = fma(b.CreateFMul(y, llvm::ConstantFP::get(type, 0.5)), rest, y);
  // Of 0 and infinity the step makes a NaN. Four bits a kind of x: a zero becomes infinity of its sign, +infinity 0.
  constexpr uint32_t zero = 2, positiveInfinity = 5, toSignedInfinity = 6, toZero = 8;
  constexpr uint32_t table = toSignedInfinity << 4 * zero | toZero << 4 * positiveInfinity;
  Value *tables = b.CreateVectorSplat(width.lanes, b.getInt32(table));
  llvm::SmallVector<Value *> operands{better, x, tables, b.getInt32(0), all};
  if (width.lanes == 16)
    operands.push_back(b.getInt32(4)); // the rounding in force
  return b.CreateIntrinsic(width.fixUp, {}, operands);
}

/// Of any number of lanes, a power of two.
static Value *reciprocalRoot(IRBuilder<> &b, Value *x) {
  unsigned lanes = lanesOf(x);
  const Width width = widthFor(lanes);
  if (lanes == width.lanes)
    return reciprocalRoot(b, x, width);
  Value *ones = llvm::ConstantFP::get(llvm::FixedVectorType::get(b.getFloatTy(), width.lanes), 1.0);
  if (lanes == 1)
    return b.CreateExtractElement(reciprocalRoot(b, b.CreateInsertElement(ones, x, uint64_t(0)), width), uint64_t(0));
  if (lanes < width.lanes) {
    Value *padded = llvm::concatenateVectors(b, {x, piece(b, ones, 0, width.lanes - lanes)});
    return piece(b, reciprocalRoot(b, padded, width), 0, lanes);
  }
  llvm::SmallVector<Value *> parts;
  for (unsigned first = 0; first < lanes; first += width.lanes)
    parts.push_back(reciprocalRoot(b, piece(b, x, first, width.lanes), width));
  return llvm::concatenateVectors(b, parts);
}

static Status run(Context &context) {
  auto machine = targetMachine(context.target.processor);
  if (!machine)
    return std::unexpected(machine.error());
  const bool canEstimate = (*machine)->getMCSubtargetInfo()->checkFeatures("+avx512vl,+avx512dq");
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel))) {
    if (Value *x = canEstimate ? estimable(instruction) : nullptr) {
      IRBuilder<> b(&instruction);
      instruction.replaceAllUsesWith(reciprocalRoot(b, x));
      instruction.eraseFromParent();
    } else if (instruction.getOpcode() == llvm::Instruction::FDiv) {
      instruction.setHasAllowReciprocal(false);
    }
  }
  return {};
}

const Pass estimate_roots{"estimate_roots", "reciprocal roots by the processor's estimate and a step of Newton's", run};

} // namespace opsight::lower::native
