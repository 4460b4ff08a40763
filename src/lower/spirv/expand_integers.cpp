// expand_integers: integer intrinsics that OpenCL has no builtin for, and that readers of SPIR-V have no instruction for,
// become plain arithmetic: additions that tell their overflow, saturating ones, three-way comparisons, and sums over a
// vector's elements. What map_mathematics has a builtin for stays for it.
#include "lower/spirv/passes.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace opsight::lower::spirv {

using llvm::APInt, llvm::Intrinsic::ID, llvm::IRBuilderBase, llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

namespace {
struct WithOverflow {
  Value *value, *overflows;
};
} // namespace

static Value *constant(llvm::Type *type, const APInt &value) { return llvm::ConstantInt::get(type, value); }

// A product fits when all bits above the result's say its sign. 64-bit factors have no wider type to be multiplied in.
static WithOverflow multiply(IRBuilderBase &b, Value *x, Value *y, bool isSigned) {
  llvm::Type *type = x->getType();
  unsigned width = type->getScalarSizeInBits();
  Value *low = b.CreateMul(x, y), *zero = llvm::Constant::getNullValue(type);
  if (width > 32) { // the product, divided by one factor, must give the other
    Value *divides = b.CreateICmpNE(x, zero);
    Value *divisor = b.CreateSelect(divides, x, constant(type, APInt(width, 1)));
    if (!isSigned)
      return {low, b.CreateAnd(divides, b.CreateICmpNE(b.CreateUDiv(low, divisor), y))};
    Value *minusOne = llvm::Constant::getAllOnesValue(type), *least = constant(type, APInt::getSignedMinValue(width));
    Value *flips = b.CreateICmpEQ(x, minusOne); // INT64_MIN / −1 would trap
    Value *safe = b.CreateSelect(flips, constant(type, APInt(width, 1)), divisor);
    Value *differs = b.CreateAnd(divides, b.CreateICmpNE(b.CreateSDiv(low, safe), y));
    return {low, b.CreateSelect(flips, b.CreateICmpEQ(y, least), differs)};
  }
  llvm::Type *wide = type->getWithNewBitWidth(64);
  auto extend = [&](Value *value) { return isSigned ? b.CreateSExt(value, wide) : b.CreateZExt(value, wide); };
  return {low, b.CreateICmpNE(b.CreateMul(extend(x), extend(y)), extend(low))};
}

static WithOverflow addSigned(IRBuilderBase &b, Value *x, Value *y, bool subtract) {
  Value *sum = subtract ? b.CreateSub(x, y) : b.CreateAdd(x, y);
  // Overflow: the sum's sign differs from x's though y moved it the other way.
  Value *other = subtract ? b.CreateXor(x, y) : b.CreateNot(b.CreateXor(x, y));
  Value *sign = b.CreateAnd(b.CreateXor(x, sum), other);
  return {sum, b.CreateICmpSLT(sign, llvm::Constant::getNullValue(x->getType()))};
}

static std::optional<WithOverflow> compute(IRBuilderBase &b, ID id, Value *x, Value *y) {
  switch (id) {
  case Intrinsic::uadd_with_overflow: case Intrinsic::uadd_sat: {
    Value *sum = b.CreateAdd(x, y);
    return WithOverflow{sum, b.CreateICmpULT(sum, x)};
  }
  case Intrinsic::usub_with_overflow: case Intrinsic::usub_sat:
    return WithOverflow{b.CreateSub(x, y), b.CreateICmpULT(x, y)};
  case Intrinsic::sadd_with_overflow: case Intrinsic::sadd_sat: return addSigned(b, x, y, false);
  case Intrinsic::ssub_with_overflow: case Intrinsic::ssub_sat: return addSigned(b, x, y, true);
  case Intrinsic::umul_with_overflow: return multiply(b, x, y, false);
  case Intrinsic::smul_with_overflow: return multiply(b, x, y, true);
  default: return std::nullopt;
  }
}

static Value *clampTo(IRBuilderBase &b, ID id, Value *x, WithOverflow exact) {
  llvm::Type *type = x->getType();
  unsigned width = type->getScalarSizeInBits();
  if (id == Intrinsic::uadd_sat)
    return b.CreateSelect(exact.overflows, llvm::Constant::getAllOnesValue(type), exact.value);
  if (id == Intrinsic::usub_sat)
    return b.CreateSelect(exact.overflows, llvm::Constant::getNullValue(type), exact.value);
  Value *negative = b.CreateICmpSLT(x, llvm::Constant::getNullValue(type));
  Value *bound = b.CreateSelect(negative, constant(type, APInt::getSignedMinValue(width)),
                                constant(type, APInt::getSignedMaxValue(width)));
  return b.CreateSelect(exact.overflows, bound, exact.value);
}

static Value *compareThreeWays(IRBuilderBase &b, llvm::IntrinsicInst *call, bool isSigned) {
  Value *x = call->getArgOperand(0), *y = call->getArgOperand(1);
  Value *less = isSigned ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y);
  Value *more = isSigned ? b.CreateICmpSGT(x, y) : b.CreateICmpUGT(x, y);
  return b.CreateSub(b.CreateZExt(more, call->getType()), b.CreateZExt(less, call->getType()));
}

static Value *combine(IRBuilderBase &b, ID id, Value *x, Value *y) {
  auto choose = [&](llvm::CmpInst::Predicate predicate) { return b.CreateSelect(b.CreateICmp(predicate, x, y), x, y); };
  switch (id) {
  case Intrinsic::vector_reduce_add: return b.CreateAdd(x, y);
  case Intrinsic::vector_reduce_mul: return b.CreateMul(x, y);
  case Intrinsic::vector_reduce_and: return b.CreateAnd(x, y);
  case Intrinsic::vector_reduce_or: return b.CreateOr(x, y);
  case Intrinsic::vector_reduce_xor: return b.CreateXor(x, y);
  case Intrinsic::vector_reduce_smax: return choose(llvm::CmpInst::ICMP_SGT);
  case Intrinsic::vector_reduce_smin: return choose(llvm::CmpInst::ICMP_SLT);
  case Intrinsic::vector_reduce_umax: return choose(llvm::CmpInst::ICMP_UGT);
  case Intrinsic::vector_reduce_umin: return choose(llvm::CmpInst::ICMP_ULT);
  case Intrinsic::vector_reduce_fadd: return b.CreateFAdd(x, y);
  case Intrinsic::vector_reduce_fmul: return b.CreateFMul(x, y);
  case Intrinsic::vector_reduce_fmax: return b.CreateMaxNum(x, y); // map_mathematics knows it
  case Intrinsic::vector_reduce_fmin: return b.CreateMinNum(x, y);
  default: return nullptr;
  }
}

// In order of the elements, as the language defines the ordered sums.
static Value *reduce(IRBuilderBase &b, llvm::IntrinsicInst *call) {
  Value *vector = call->getArgOperand(call->arg_size() - 1);
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(vector->getType());
  if (!type)
    return nullptr;
  Value *sum = call->arg_size() == 2 ? call->getArgOperand(0) : nullptr; // fadd and fmul come with a start
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    Value *element = b.CreateExtractElement(vector, i);
    sum = sum ? combine(b, call->getIntrinsicID(), sum, element) : element;
    if (!sum)
      return nullptr;
  }
  return sum;
}

static void replacePair(IRBuilderBase &b, llvm::IntrinsicInst *call, WithOverflow exact) {
  for (llvm::User *user : llvm::make_early_inc_range(call->users()))
    if (auto *part = llvm::dyn_cast<llvm::ExtractValueInst>(user)) {
      part->replaceAllUsesWith(part->getIndices().front() == 0 ? exact.value : exact.overflows);
      part->eraseFromParent();
    }
  if (call->use_empty())
    return;
  Value *pair = b.CreateInsertValue(llvm::PoisonValue::get(call->getType()), exact.value, 0);
  call->replaceAllUsesWith(b.CreateInsertValue(pair, exact.overflows, 1));
}

static bool expand(llvm::IntrinsicInst *call) {
  llvm::IRBuilder<> b(call);
  ID id = call->getIntrinsicID();
  Value *value = nullptr;
  if (id == Intrinsic::scmp || id == Intrinsic::ucmp)
    value = compareThreeWays(b, call, id == Intrinsic::scmp);
  else if (call->getCalledFunction()->getName().starts_with("llvm.vector.reduce."))
    value = reduce(b, call);
  else if (call->arg_size() == 2) {
    auto exact = compute(b, id, call->getArgOperand(0), call->getArgOperand(1));
    if (!exact)
      return false;
    if (call->getType()->isStructTy())
      return replacePair(b, call, *exact), true;
    value = clampTo(b, id, call->getArgOperand(0), *exact);
  }
  if (value)
    call->replaceAllUsesWith(value);
  return value;
}

static Status run(Context &context) {
  llvm::SmallVector<llvm::IntrinsicInst *> calls;
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel))
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
      calls.push_back(call);
  for (llvm::IntrinsicInst *call : calls)
    if (expand(call))
      call->eraseFromParent();
  return {};
}

const Pass expand_integers{"expand_integers", "integer intrinsics that readers lack become arithmetic", run};

} // namespace opsight::lower::spirv
