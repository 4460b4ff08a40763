// Arithmetic on floating point, in single, double, half and bfloat, and pairs of the latter two. Nothing is flushed
// (.ftz) and approximations are answered by the exact function, as CUDA's own fast functions are here. A bfloat is
// computed in float and rounded once.
#include "cuda/ptx/site.h"

namespace opsight::cuda::ptx {
namespace {
using llvm::ArrayRef, llvm::Value;
using Op = llvm::Instruction;
namespace I = llvm::Intrinsic;

/// To 0 … 1, NaN to 0, where the statement says .sat.
Value *saturated(Site &site, Value *value) {
  if (!site.has("sat"))
    return value;
  Value *zero = llvm::Constant::getNullValue(value->getType()), *one = llvm::ConstantFP::get(value->getType(), 1.0);
  Value *positive = site.b.CreateSelect(site.b.CreateFCmpOGT(value, zero), value, zero);
  return site.b.CreateSelect(site.b.CreateFCmpOLT(positive, one), positive, one);
}

template <Op::BinaryOps code> Value *plain(Site &site, ArrayRef<Value *> v) {
  return saturated(site, site.b.CreateBinOp(code, v[0], v[1]));
}
template <I::ID id> Value *ofTwo(Site &site, ArrayRef<Value *> v) {
  return site.b.CreateBinaryIntrinsic(id, v[0], v[1]);
}
template <I::ID id> Value *exactly(Site &site, ArrayRef<Value *> v) { return site.b.CreateUnaryIntrinsic(id, v[0]); }
/// A function that is evaluated in float where the type is narrower.
template <I::ID id> Value *function(Site &site, ArrayRef<Value *> v) {
  if (!v[0]->getType()->isHalfTy())
    return exactly<id>(site, v);
  Value *single = site.b.CreateFPExt(v[0], site.b.getFloatTy());
  return site.b.CreateFPTrunc(site.b.CreateUnaryIntrinsic(id, single), v[0]->getType());
}
Value *negative(Site &site, ArrayRef<Value *> v) { return site.b.CreateFNeg(v[0]); }
Value *reciprocal(Site &site, ArrayRef<Value *> v) {
  return site.b.CreateFDiv(llvm::ConstantFP::get(v[0]->getType(), 1.0), v[0]);
}
Value *reciprocalRoot(Site &site, ArrayRef<Value *> v) {
  Value *result = reciprocal(site, {exactly<I::sqrt>(site, v)});
  if (auto *division = llvm::dyn_cast<llvm::Instruction>(result))
    division->setHasAllowReciprocal(true); // approx: as rsqrtf()
  return result;
}
Value *fused(Site &site, ArrayRef<Value *> v) {
  return saturated(site, site.b.CreateIntrinsic(I::fma, {v[0]->getType()}, {v[0], v[1], v[2]}));
}
Value *signOfFirst(Site &site, ArrayRef<Value *> v) { return site.b.CreateBinaryIntrinsic(I::copysign, v[1], v[0]); }

constexpr llvm::StringRef all = "f16 f16x2 bf16 bf16x2 f32 f64", large = "f32 f64", nearest = "rn ftz sat";
constexpr Row rows[] = {
    {"add", nearest, all, 1, 3, 3, elementwise<plain<Op::FAdd>>},
    {"sub", nearest, all, 1, 3, 3, elementwise<plain<Op::FSub>>},
    {"mul", nearest, all, 1, 3, 3, elementwise<plain<Op::FMul>>},
    {"fma", nearest, all, 1, 4, 4, elementwise<fused>},
    {"mad", nearest, large, 1, 4, 4, elementwise<fused>},
    {"div", "approx full rn ftz", large, 1, 3, 3, elementwise<plain<Op::FDiv>>},
    {"neg", "ftz", all, 1, 2, 2, elementwise<negative>},
    {"abs", "ftz", all, 1, 2, 2, elementwise<exactly<I::fabs>>},
    {"min", "ftz", all, 1, 3, 3, elementwise<ofTwo<I::minnum>>},
    {"max", "ftz", all, 1, 3, 3, elementwise<ofTwo<I::maxnum>>},
    {"copysign", "", large, 1, 3, 3, elementwise<signOfFirst>},
    {"rcp", "approx rn ftz", large, 1, 2, 2, elementwise<reciprocal>},
    {"sqrt", "approx rn ftz", large, 1, 2, 2, elementwise<exactly<I::sqrt>>},
    {"rsqrt.approx", "ftz", large, 1, 2, 2, elementwise<reciprocalRoot>},
    {"sin.approx", "ftz", "f32", 1, 2, 2, elementwise<function<I::sin>>},
    {"cos.approx", "ftz", "f32", 1, 2, 2, elementwise<function<I::cos>>},
    {"lg2.approx", "ftz", "f32", 1, 2, 2, elementwise<function<I::log2>>},
    {"ex2.approx", "ftz", "f32 f16 f16x2 bf16 bf16x2", 1, 2, 2, elementwise<function<I::exp2>>},
    {"tanh.approx", "", "f32 f16 f16x2 bf16 bf16x2", 1, 2, 2, elementwise<function<I::tanh>>},
};
} // namespace

ArrayRef<Row> floatRows() { return rows; }

} // namespace opsight::cuda::ptx
