// estimate_roots: rsqrtf(), which the front end writes as 1 / sqrt(x) with a division that may be inexact, becomes
// AVX-512's estimate and one step of Newton's: eight instructions where a root and a division keep the one divider busy
// for fifty cycles. It errs by less than 1.2 units in the last place (CUDA: 2). Vectors of any length give the same
// bits.
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

constexpr unsigned leastLanes = 4, mostLanes = 16; // of an instruction

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

/// To 14 bits, of any number of lanes.
static Value *estimate(IRBuilder<> &b, Value *x) {
  unsigned lanes = lanesOf(x), width = std::clamp(lanes, leastLanes, mostLanes);
  llvm::Intrinsic::ID instruction = width == 16  ? llvm::Intrinsic::x86_avx512_rsqrt14_ps_512
                                    : width == 8 ? llvm::Intrinsic::x86_avx512_rsqrt14_ps_256
                                                 : llvm::Intrinsic::x86_avx512_rsqrt14_ps_128;
  auto *type = llvm::FixedVectorType::get(b.getFloatTy(), width);
  llvm::Type *mask = width == 16 ? b.getInt16Ty() : b.getInt8Ty();
  auto one = [&](Value *part) -> Value * {
    return b.CreateIntrinsic(instruction, {},
                             {part, llvm::Constant::getNullValue(type), llvm::Constant::getAllOnesValue(mask)});
  };
  if (lanes == 1)
    return b.CreateExtractElement(one(b.CreateInsertElement(llvm::Constant::getNullValue(type), x, uint64_t(0))),
                                  uint64_t(0));
  if (lanes < leastLanes)
    return piece(b,
                 one(piece(b, llvm::concatenateVectors(b, {x, llvm::Constant::getNullValue(x->getType())}), 0, width)),
                 0, lanes);
  llvm::SmallVector<Value *> parts;
  for (unsigned first = 0; first < lanes; first += width)
    parts.push_back(one(lanes == width ? x : piece(b, x, first, width)));
  return llvm::concatenateVectors(b, parts);
}

static Value *reciprocalRoot(IRBuilder<> &b, Value *x) {
  llvm::Type *type = x->getType();
  auto fma = [&](Value *l, Value *r, Value *sum) { return b.CreateIntrinsic(llvm::Intrinsic::fma, type, {l, r, sum}); };
  Value *y = estimate(b, x);
  Value *rest = fma(b.CreateFNeg(b.CreateFMul(x, y)), y, llvm::ConstantFP::get(type, 1.0)); // 1 - x y²
  Value *better = fma(b.CreateFMul(y, llvm::ConstantFP::get(type, 0.5)), rest, y);
  // Of 0 and infinity the estimate is exact, and a product with it is none.
  Value *isExact = b.createIsFPClass(x, llvm::fcZero | llvm::fcInf);
  return b.CreateSelect(isExact, y, better);
}

static Status run(Context &context) {
  auto machine = targetMachine(context.target.processor);
  if (!machine)
    return std::unexpected(machine.error());
  if (!(*machine)->getMCSubtargetInfo()->checkFeatures("+avx512vl,+avx512dq"))
    return {};
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel)))
    if (Value *x = estimable(instruction)) {
      IRBuilder<> b(&instruction);
      instruction.replaceAllUsesWith(reciprocalRoot(b, x));
      instruction.eraseFromParent();
    }
  return {};
}

const Pass estimate_roots{"estimate_roots", "reciprocal roots by the processor's estimate and a step of Newton's", run};

} // namespace opsight::lower::native
