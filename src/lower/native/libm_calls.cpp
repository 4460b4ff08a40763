// libm_calls: CUDA's functions without an LLVM intrinsic become calls of the C library's mathematics, by one table, or
// are composed from others. LLVM itself turns its intrinsics (exp, sin …) into such calls, so native code needs libm.so;
// its functions err by less than 1 ulp, which inline polynomials for every function would have to match first.
#include "lower/native/passes.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace opsight::lower::native {

using llvm::IRBuilderBase, llvm::Value;

namespace {
using Arguments = llvm::ArrayRef<Value *>;
using Compose = Value *(*)(IRBuilderBase &, llvm::Type *, Arguments);
struct Row {
  llvm::StringRef name; // __nv_NAME for double, __nv_NAMEf for float; without `compose` also libm's
  Compose compose = nullptr;
};
} // namespace

static Value *constant(llvm::Type *type, double value) { return llvm::ConstantFP::get(type, value); }

static Value *libm(IRBuilderBase &b, llvm::StringRef name, llvm::Type *type, Arguments arguments) {
  llvm::SmallVector<llvm::Type *> types;
  for (Value *argument : arguments)
    types.push_back(argument->getType());
  std::string symbol = name.str() + (type->isFloatTy() ? "f" : "");
  llvm::Module *module = b.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee = module->getOrInsertFunction(symbol, llvm::FunctionType::get(type, types, false));
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotAccessMemory();
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
  return b.CreateCall(callee, arguments);
}

// sin(πx) and cos(πx): the whole part of x/2 is taken off first, exactly, so that large x keep their accuracy.
template <llvm::Intrinsic::ID function> static Value *ofPi(IRBuilderBase &b, llvm::Type *type, Arguments a) {
  Value *half = b.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, b.CreateFMul(a[0], constant(type, 0.5)));
  Value *rest = b.CreateFSub(a[0], b.CreateFMul(half, constant(type, 2)));
  return b.CreateUnaryIntrinsic(function, b.CreateFMul(rest, constant(type, 3.14159265358979323846)));
}
static Value *normcdf(IRBuilderBase &b, llvm::Type *type, Arguments a) {
  Value *scaled = b.CreateFMul(a[0], constant(type, -0.70710678118654752440));
  return b.CreateFMul(constant(type, 0.5), libm(b, "erfc", type, {scaled}));
}
static Value *rhypot(IRBuilderBase &b, llvm::Type *type, Arguments a) {
  return b.CreateFDiv(constant(type, 1), libm(b, "hypot", type, a));
}
static Value *norm3d(IRBuilderBase &b, llvm::Type *type, Arguments a) {
  return libm(b, "hypot", type, {libm(b, "hypot", type, {a[0], a[1]}), a[2]});
}
static Value *norm4d(IRBuilderBase &b, llvm::Type *type, Arguments a) {
  return libm(b, "hypot", type, {norm3d(b, type, a), a[3]});
}

constexpr Row rows[] = {
    {"erf"},     {"erfc"},   {"cbrt"},  {"expm1"}, {"log1p"},     {"hypot"},     {"tgamma"}, {"lgamma"},
    {"asinh"},   {"acosh"},  {"atanh"}, {"remainder"}, {"nextafter"}, {"j0"},    {"j1"},     {"y0"},
    {"y1"},      {"jn"},     {"yn"},    {"normcdf", normcdf},     {"rhypot", rhypot},        {"norm3d", norm3d},
    {"norm4d", norm4d},      {"sinpi", ofPi<llvm::Intrinsic::sin>},   {"cospi", ofPi<llvm::Intrinsic::cos>},
};

static const Row *rowOf(llvm::StringRef name, llvm::Type *type) {
  if (!name.consume_front("__nv_") || (type->isFloatTy() && !name.consume_back("f")))
    return nullptr;
  for (const Row &row : rows)
    if (row.name == name)
      return &row;
  return nullptr;
}

static Status run(Context &context) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel))) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
    const Row *row = callee ? rowOf(callee->getName(), call->getType()) : nullptr;
    if (!row)
      continue;
    llvm::IRBuilder<> builder(call);
    llvm::SmallVector<Value *> arguments(call->args());
    Value *value = row->compose ? row->compose(builder, call->getType(), arguments)
                                : libm(builder, row->name, call->getType(), arguments);
    call->replaceAllUsesWith(value);
    call->eraseFromParent();
  }
  return {};
}

const Pass libm_calls{"libm_calls", "CUDA's mathematics becomes calls of libm", run};

} // namespace opsight::lower::native
