// map_mathematics: LLVM's mathematical intrinsics and the __nv_* functions become OpenCL builtins, by one table; the few
// that OpenCL lacks are composed from others. Anything not here keeps its name, and strip_for_driver refuses it.
#include "lower/composed_functions.h"
#include "lower/float_class.h"
#include "lower/spirv/builtins.h"
#include "lower/spirv/passes.h"
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace opsight::lower::spirv {

using llvm::IRBuilderBase, llvm::Value;

namespace {
using Arguments = llvm::ArrayRef<Value *>;
using Compose = Value *(*)(IRBuilderBase &, llvm::Type *, Arguments);
struct Row {
  llvm::StringRef name;    // of llvm.NAME.type, or of __nv_NAME and __nv_NAMEf
  llvm::StringRef builtin; // OpenCL's; empty where composed
  Compose compose = nullptr;
};
} // namespace

static Value *call(IRBuilderBase &b, llvm::StringRef name, llvm::Type *type, Arguments arguments) {
  return callBuiltin(b, name, type, arguments);
}

static Value *constant(llvm::Type *type, double value) { return llvm::ConstantFP::get(type, value); }

static Value *unordered(IRBuilderBase &b, Arguments a) { return b.CreateFCmpUNO(a[0], a[1]); }

// llvm.minimum and maximum hand a NaN on, where fmin and fmax drop it.
static Value *maximum(IRBuilderBase &b, llvm::Type *type, Arguments a) {
  return b.CreateSelect(unordered(b, a), b.CreateFAdd(a[0], a[1]), call(b, "fmax", type, a));
}
static Value *minimum(IRBuilderBase &b, llvm::Type *type, Arguments a) {
  return b.CreateSelect(unordered(b, a), b.CreateFAdd(a[0], a[1]), call(b, "fmin", type, a));
}

// Most significant set bit first; OpenCL's clz gives the width for zero, as CUDA's __clz does.
static Value *countLeadingZeros(IRBuilderBase &b, llvm::Type *type, Arguments a) {
  return call(b, "clz", type, {a[0]});
}
// OpenCL 1.2 has no ctz: the zeros below the lowest set bit, counted.
static Value *countTrailingZeros(IRBuilderBase &b, llvm::Type *type, Arguments a) {
  Value *below = b.CreateAnd(b.CreateNot(a[0]), b.CreateSub(a[0], llvm::ConstantInt::get(type, 1)));
  return b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, below);
}

static Value *swapGroups(IRBuilderBase &b, llvm::Type *type, Value *value, unsigned group) {
  unsigned width = type->getScalarSizeInBits();
  llvm::APInt mask = llvm::APInt::getSplat(width, llvm::APInt::getLowBitsSet(2 * group, group));
  Value *low = b.CreateShl(b.CreateAnd(value, llvm::ConstantInt::get(type, mask)), group);
  Value *high = b.CreateAnd(b.CreateLShr(value, group), llvm::ConstantInt::get(type, mask));
  return b.CreateOr(low, high);
}
static Value *reverse(IRBuilderBase &b, llvm::Type *type, Value *value, unsigned smallest) {
  for (unsigned group = smallest; group < type->getScalarSizeInBits(); group *= 2)
    value = swapGroups(b, type, value, group);
  return value;
}
static Value *reverseBits(IRBuilderBase &b, llvm::Type *type, Arguments a) { return reverse(b, type, a[0], 1); }
static Value *reverseBytes(IRBuilderBase &b, llvm::Type *type, Arguments a) { return reverse(b, type, a[0], 8); }

// Funnel shifts take the count modulo the width; a shift by the whole width would be undefined, so it goes in two steps.
static Value *funnel(IRBuilderBase &b, llvm::Type *type, Arguments a, bool left) {
  unsigned width = type->getScalarSizeInBits();
  Value *last = llvm::ConstantInt::get(type, width - 1), *one = llvm::ConstantInt::get(type, 1);
  Value *count = b.CreateAnd(a[2], last), *rest = b.CreateSub(last, count);
  if (left)
    return b.CreateOr(b.CreateShl(a[0], count), b.CreateLShr(b.CreateLShr(a[1], one), rest));
  return b.CreateOr(b.CreateShl(b.CreateShl(a[0], one), rest), b.CreateLShr(a[1], count));
}
static Value *funnelLeft(IRBuilderBase &b, llvm::Type *type, Arguments a) { return funnel(b, type, a, true); }
static Value *funnelRight(IRBuilderBase &b, llvm::Type *type, Arguments a) { return funnel(b, type, a, false); }

static Value *absolute(IRBuilderBase &b, llvm::Type *type, Arguments a) {
  return b.CreateSelect(b.CreateICmpSLT(a[0], llvm::Constant::getNullValue(type)), b.CreateNeg(a[0]), a[0]);
}
template <llvm::CmpInst::Predicate predicate>
static Value *choose(IRBuilderBase &b, llvm::Type *, Arguments a) {
  return b.CreateSelect(b.CreateICmp(predicate, a[0], a[1]), a[0], a[1]);
}
static Value *same(IRBuilderBase &, llvm::Type *, Arguments a) { return a[0]; }

constexpr Row intrinsics[] = {
    {"fma", "fma"}, {"fmuladd", "fma"}, {"sqrt", "sqrt"}, {"fabs", "fabs"}, {"floor", "floor"}, {"ceil", "ceil"},
    {"trunc", "trunc"}, {"rint", "rint"}, {"nearbyint", "rint"}, {"roundeven", "rint"}, {"round", "round"},
    {"maxnum", "fmax"}, {"minnum", "fmin"}, {"maximumnum", "fmax"}, {"minimumnum", "fmin"}, {"copysign", "copysign"},
    {"ldexp", "ldexp"}, {"exp", "exp"}, {"exp2", "exp2"}, {"exp10", "exp10"}, {"log", "log"}, {"log2", "log2"},
    {"log10", "log10"}, {"pow", "pow"}, {"powi", "pown"}, {"sin", "sin"}, {"cos", "cos"}, {"tan", "tan"}, {"asin", "asin"},
    {"acos", "acos"}, {"atan", "atan"}, {"atan2", "atan2"}, {"sinh", "sinh"}, {"cosh", "cosh"}, {"tanh", "tanh"},
    {"maximum", "", maximum}, {"minimum", "", minimum}, {"canonicalize", "", same},
    {"ctlz", "", countLeadingZeros}, {"cttz", "", countTrailingZeros}, {"bitreverse", "", reverseBits},
    {"bswap", "", reverseBytes}, {"fshl", "", funnelLeft}, {"fshr", "", funnelRight}, {"abs", "", absolute},
    {"smin", "", choose<llvm::CmpInst::ICMP_SLT>}, {"smax", "", choose<llvm::CmpInst::ICMP_SGT>},
    {"umin", "", choose<llvm::CmpInst::ICMP_ULT>}, {"umax", "", choose<llvm::CmpInst::ICMP_UGT>},
};

constexpr Row libdevice[] = {
    {"erf", "erf"}, {"erfc", "erfc"}, {"cbrt", "cbrt"}, {"expm1", "expm1"}, {"log1p", "log1p"}, {"hypot", "hypot"},
    {"tgamma", "tgamma"}, {"lgamma", "lgamma"}, {"sinpi", "sinpi"}, {"cospi", "cospi"}, {"asinh", "asinh"},
    {"acosh", "acosh"}, {"atanh", "atanh"}, {"remainder", "remainder"}, {"nextafter", "nextafter"},
};

static const Row *findRow(llvm::ArrayRef<Row> rows, llvm::StringRef name) {
  for (const Row &row : rows)
    if (row.name == name)
      return &row;
  return nullptr;
}

static const Row *rowOf(const llvm::Function &callee) {
  llvm::StringRef name = callee.getName();
  if (name.consume_front("llvm."))
    return findRow(intrinsics, name.substr(0, name.find('.')));
  if (!name.consume_front("__nv_"))
    return nullptr;
  if (const Row *row = findRow(libdevice, name))
    return row;
  return name.consume_back("f") ? findRow(libdevice, name) : nullptr;
}

static Value *composed(IRBuilderBase &b, llvm::CallInst *called, Arguments arguments) {
  llvm::StringRef name = called->getCalledFunction()->getName();
  if (!name.consume_front("__nv_"))
    return nullptr;
  if (called->getType()->isFloatTy())
    name.consume_back("f");
  return composeFunction(b, name, arguments, [&](llvm::StringRef builtin, Arguments given) -> Value * {
    return call(b, builtin, called->getType(), given);
  });
}

static Value *isOfClass(IRBuilderBase &b, llvm::CallInst *called) {
  Value *x = called->getArgOperand(0);
  llvm::Type *bits = x->getType()->getWithNewType(b.getIntNTy(x->getType()->getScalarSizeInBits()));
  unsigned fraction = x->getType()->getScalarType()->getFPMantissaWidth() - 1;
  return lower::isOfClass(b, b.CreateBitCast(x, bits), unsigned(fraction),
                          unsigned(llvm::cast<llvm::ConstantInt>(called->getArgOperand(1))->getZExtValue()));
}

// frexp's two results come back through memory in OpenCL, so they are taken from the bits instead: scale a denormal up,
// read the exponent, replace it.
static Value *splitExponent(IRBuilderBase &b, llvm::CallInst *call) {
  Value *x = call->getArgOperand(0);
  llvm::Type *type = x->getType(), *resultType = call->getType();
  bool isDouble = type->isDoubleTy();
  unsigned width = isDouble ? 64 : 32, fraction = isDouble ? 52 : 23, bias = isDouble ? 1022 : 126;
  llvm::IntegerType *word = b.getIntNTy(width);
  auto number = [&](uint64_t value) { return llvm::ConstantInt::get(word, value); };
  uint64_t exponentMask = isDouble ? 0x7FF : 0xFF;
  Value *scaled = b.CreateFMul(x, constant(type, isDouble ? 0x1p64 : 0x1p32));
  auto exponentOf = [&](Value *value) {
    return b.CreateAnd(b.CreateLShr(b.CreateBitCast(value, word), number(fraction)), number(exponentMask));
  };
  Value *denormal = b.CreateICmpEQ(exponentOf(x), number(0));
  Value *used = b.CreateSelect(denormal, scaled, x), *exponent = exponentOf(used);
  Value *shift = b.CreateSelect(denormal, number(bias + (isDouble ? 64 : 32)), number(bias));
  Value *cleared = b.CreateAnd(b.CreateBitCast(used, word), number(~(exponentMask << fraction)));
  Value *mantissa = b.CreateBitCast(b.CreateOr(cleared, number(uint64_t(bias) << fraction)), type);
  Value *special = b.CreateOr(b.CreateFCmpOEQ(x, constant(type, 0)), b.CreateICmpEQ(exponent, number(exponentMask)));
  mantissa = b.CreateSelect(special, x, mantissa);
  Value *power = b.CreateTrunc(b.CreateSelect(special, number(0), b.CreateSub(exponent, shift)), b.getInt32Ty());
  return b.CreateInsertValue(b.CreateInsertValue(llvm::PoisonValue::get(resultType), mantissa, 0), power, 1);
}

static Value *translate(llvm::CallInst *call) {
  llvm::IRBuilder<> builder(call);
  const llvm::Function *callee = call->getCalledFunction();
  if (!callee)
    return nullptr;
  if (callee->getIntrinsicID() == llvm::Intrinsic::frexp && !call->getArgOperand(0)->getType()->isVectorTy())
    return splitExponent(builder, call);
  if (callee->getIntrinsicID() == llvm::Intrinsic::is_fpclass)
    return isOfClass(builder, call);
  llvm::SmallVector<Value *> arguments(call->args());
  const Row *row = rowOf(*callee);
  if (!row)
    return composed(builder, call, arguments);
  if (row->compose)
    return row->compose(builder, call->getType(), arguments);
  return callBuiltin(builder, row->builtin, call->getType(), arguments);
}

static Status run(Context &context) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel))) {
    llvm::IRBuilder<> builder(&instruction);
    Value *translated = nullptr;
    if (auto *called = llvm::dyn_cast<llvm::CallInst>(&instruction))
      translated = translate(called);
    else if (instruction.getOpcode() == llvm::Instruction::FRem)
      translated = call(builder, "fmod", instruction.getType(), {instruction.getOperand(0), instruction.getOperand(1)});
    if (!translated)
      continue;
    instruction.replaceAllUsesWith(translated);
    instruction.eraseFromParent();
  }
  return {};
}

const Pass map_mathematics{"map_mathematics", "mathematics becomes OpenCL builtins", run};

} // namespace opsight::lower::spirv
