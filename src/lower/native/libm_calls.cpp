// libm_calls: CUDA's functions without an LLVM intrinsic become calls of the C library's mathematics, by one table, or
// are composed from others. LLVM itself turns its intrinsics (exp, sin …) into such calls, so native code needs libm.so;
// its functions err by less than 1 ulp, which inline polynomials for every function would have to match first.
#include "lower/composed_functions.h"
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

constexpr Row rows[] = {
    {"erf"},   {"erfc"},  {"cbrt"},      {"expm1"},     {"log1p"}, {"hypot"}, {"tgamma"}, {"lgamma"},
    {"asinh"}, {"acosh"}, {"atanh"},     {"remainder"}, {"nextafter"}, {"j0"}, {"j1"},    {"y0"},
    {"y1"},    {"jn"},    {"yn"},        {"sinpi", ofPi<llvm::Intrinsic::sin>}, {"cospi", ofPi<llvm::Intrinsic::cos>},
};

/// Null for what is none of CUDA's functions without an intrinsic.
static Value *translate(llvm::CallInst *call) {
  const llvm::Function *callee = call->getCalledFunction();
  llvm::Type *type = call->getType();
  llvm::StringRef name = callee ? callee->getName() : "";
  if (!name.consume_front("__nv_") || (type->isFloatTy() && !name.consume_back("f")))
    return nullptr;
  llvm::IRBuilder<> builder(call);
  llvm::SmallVector<Value *> arguments(call->args());
  for (const Row &row : rows)
    if (row.name == name)
      return row.compose ? row.compose(builder, type, arguments) : libm(builder, name, type, arguments);
  return composeFunction(builder, name, arguments, [&](llvm::StringRef function, Arguments given) {
    return libm(builder, function, type, given);
  });
}

static Status run(Context &context) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel)))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (Value *value = translate(call)) {
        call->replaceAllUsesWith(value);
        call->eraseFromParent();
      }
  return {};
}

const Pass libm_calls{"libm_calls", "CUDA's mathematics becomes calls of libm", run};

} // namespace opsight::lower::native
