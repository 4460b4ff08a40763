// See every_lane.h.
#include "lower/warp/every_lane.h"
#include <llvm/IR/PatternMatch.h>

namespace opsight::lower::warp {

using llvm::CmpInst, llvm::Value;
using namespace llvm::PatternMatch;

namespace {
/// The lanes of an operand that are decisive in a comparison, and whether they are: not if some lane wraps past others.
struct Extreme {
  Value *value;
  Value *holds; // null: always
};
} // namespace

static Extreme extremeOf(Emitter &emitter, Value *operand, bool highest, bool isSigned) {
  Shape shape = emitter.shape(operand);
  if (shape.isUniform())
    return {emitter.scalar(operand), nullptr};
  auto [least, most] = std::minmax_element(shape.offsets.begin(), shape.offsets.end());
  auto at = [&](const int64_t *offset) { return emitter.atLane(operand, unsigned(offset - shape.offsets.begin())); };
  Value *low = at(least), *high = at(most);
  Value *extreme = highest ? high : low;
  if (*least == *most || shape.isDisjoint()) // no lane carries
    return {extreme, nullptr};
  return {extreme, emitter.b.CreateICmp(isSigned ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE, low, high)};
}

static Value *comparisonHolds(Emitter &emitter, CmpInst::Predicate predicate, Value *left, Value *right) {
  if (!CmpInst::isRelational(predicate) || !left->getType()->isIntegerTy())
    return nullptr;
  if (emitter.shape(left).isVarying() || emitter.shape(right).isVarying())
    return nullptr;
  bool isSigned = CmpInst::isSigned(predicate);
  bool isLess = llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate);
  Extreme first = extremeOf(emitter, left, isLess, isSigned), second = extremeOf(emitter, right, !isLess, isSigned);
  Value *holds = emitter.b.CreateICmp(predicate, first.value, second.value);
  for (Value *condition : {first.holds, second.holds})
    if (condition)
      holds = emitter.b.CreateAnd(holds, condition);
  return holds;
}

static Value *holds(Emitter &emitter, Value *condition, bool wanted) {
  Value *left, *right;
  if (match(condition, m_Not(m_Value(left))))
    return holds(emitter, left, !wanted);
  if (emitter.shape(condition).isUniform()) {
    Value *one = emitter.scalar(condition);
    return wanted ? one : emitter.b.CreateNot(one);
  }
  if (wanted ? match(condition, m_LogicalAnd(m_Value(left), m_Value(right)))
             : match(condition, m_LogicalOr(m_Value(left), m_Value(right)))) {
    Value *first = holds(emitter, left, wanted);
    Value *second = first ? holds(emitter, right, wanted) : nullptr;
    // The second may be poison where the first does not hold.
    return second ? emitter.b.CreateLogicalAnd(first, second) : nullptr;
  }
  auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(condition);
  if (!comparison)
    return nullptr;
  CmpInst::Predicate predicate = wanted ? comparison->getPredicate() : comparison->getInversePredicate();
  return comparisonHolds(emitter, predicate, comparison->getOperand(0), comparison->getOperand(1));
}

Value *everyLaneHolds(Emitter &emitter, Value *condition) { return holds(emitter, condition, true); }

} // namespace opsight::lower::warp
