// See composed_functions.h.
#include "lower/composed_functions.h"

namespace opsight::lower {

using llvm::IRBuilderBase, llvm::Value;

namespace {
using Arguments = llvm::ArrayRef<Value *>;
struct Row {
  llvm::StringRef name;
  Value *(*compose)(IRBuilderBase &, Arguments, CallLibrary);
};
} // namespace

static Value *constant(Arguments like, double value) { return llvm::ConstantFP::get(like[0]->getType(), value); }

static Value *normcdf(IRBuilderBase &b, Arguments a, CallLibrary call) {
  Value *scaled = b.CreateFMul(a[0], constant(a, -0.70710678118654752440));
  return b.CreateFMul(constant(a, 0.5), call("erfc", {scaled}));
}
static Value *rhypot(IRBuilderBase &b, Arguments a, CallLibrary call) {
  return b.CreateFDiv(constant(a, 1), call("hypot", a));
}
static Value *norm3d(IRBuilderBase &, Arguments a, CallLibrary call) {
  return call("hypot", {call("hypot", {a[0], a[1]}), a[2]});
}
static Value *norm4d(IRBuilderBase &b, Arguments a, CallLibrary call) {
  return call("hypot", {norm3d(b, a, call), a[3]});
}

Value *composeFunction(IRBuilderBase &b, llvm::StringRef name, Arguments arguments, CallLibrary call) {
  constexpr Row rows[] = {{"normcdf", normcdf}, {"rhypot", rhypot}, {"norm3d", norm3d}, {"norm4d", norm4d}};
  for (const Row &row : rows)
    if (row.name == name)
      return row.compose(b, arguments, call);
  return nullptr;
}

} // namespace opsight::lower
