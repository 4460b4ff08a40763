// See patterns.h. Loops make it a fixpoint: a value not yet seen is hoped to agree with what comes in first, and each
// round may only lower a hope to Varying, so the rounds end.
#include "lower/warp/patterns.h"
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/MathExtras.h>

namespace opsight::lower::warp {

using llvm::Instruction, llvm::Value;
using Offsets = llvm::SmallVector<int64_t, 32>;

constexpr unsigned allZeros = 63; // more than any offset needs

bool Shape::isDisjoint() const {
  return llvm::all_of(offsets, [&](int64_t offset) {
    return offset >= 0 && uint64_t(offset) < (uint64_t(1) << std::min(trailingZeros, allZeros));
  });
}

bool Shape::isConsecutive(uint64_t bytes) const {
  for (size_t lane = 1; lane < offsets.size(); ++lane)
    if (offsets[lane] != offsets[0] + int64_t(lane * bytes))
      return false;
  return isPattern();
}

llvm::SmallVector<Run> runsOf(llvm::ArrayRef<int64_t> offsets, uint64_t bytes) {
  llvm::SmallVector<Run> runs;
  for (unsigned lane = 0; lane < offsets.size(); ++lane) {
    Run *last = runs.empty() ? nullptr : &runs.back();
    int64_t previous = lane ? offsets[lane - 1] : 0;
    bool same = last && offsets[lane] == previous, next = last && offsets[lane] == previous + int64_t(bytes);
    if (last && ((same && (last->count == 1 || last->step == 0)) || (next && (last->count == 1 || last->step == 1)))) {
      last->step = same ? 0 : 1;
      ++last->count;
    } else {
      runs.push_back({lane, 1, offsets[lane], 1});
    }
  }
  return runs;
}

static unsigned widthOf(const llvm::Type *type, const llvm::DataLayout &layout) {
  return type->isPointerTy() ? 64 : unsigned(layout.getTypeSizeInBits(const_cast<llvm::Type *>(type)));
}

static bool isPatternType(const llvm::Type *type) {
  return type->isPointerTy() || (type->isIntegerTy() && type->getIntegerBitWidth() >= 8 && type->getIntegerBitWidth() <= 64);
}

unsigned Shapes::zerosOf(const Value *value) const {
  Shape shape = of(value);
  if (!shape.isUniform())
    return shape.trailingZeros;
  if (!value->getType()->isIntOrPtrTy())
    return 0;
  llvm::KnownBits known = llvm::computeKnownBits(value, layout);
  return known.isZero() ? allZeros : std::min(known.countMinTrailingZeros(), allZeros);
}

Shape Shapes::pattern(Offsets offsets, unsigned width, unsigned trailingZeros) const {
  for (int64_t &offset : offsets)
    offset = llvm::SignExtend64(uint64_t(offset), width);
  bool same = llvm::all_of(offsets, [](int64_t offset) { return offset == 0; }); // also of common operands, which have none
  if (same)
    return {Shape::Uniform};
  return {Shape::Pattern, std::move(offsets), std::min(trailingZeros, allZeros)};
}

Shape Shapes::of(const Value *value) const {
  if (auto found = shapes.find(value); found != shapes.end())
    return found->second;
  return {Shape::Uniform};
}

static Offsets offsetsOf(const Shape &shape, unsigned lanes) {
  return shape.isPattern() ? shape.offsets : Offsets(lanes, 0);
}

template <typename Operation> static Offsets combine(const Shape &a, const Shape &b, unsigned lanes, Operation operation) {
  Offsets left = offsetsOf(a, lanes), right = offsetsOf(b, lanes), result;
  for (unsigned lane = 0; lane < lanes; ++lane)
    result.push_back(int64_t(operation(uint64_t(left[lane]), uint64_t(right[lane]))));
  return result;
}

// Shifts and masks by constants, and divisions by powers of two: bit by bit where base and offset share no bit.
Shape Shapes::shifted(const llvm::BinaryOperator &operation) const {
  Shape a = of(operation.getOperand(0));
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(operation.getOperand(1));
  if (!constant || !a.isPattern() || constant->getBitWidth() > 64)
    return {};
  unsigned width = constant->getBitWidth();
  uint64_t by = constant->getZExtValue();
  auto apply = [&](unsigned zeros, auto change) {
    Offsets offsets;
    for (int64_t offset : a.offsets)
      offsets.push_back(int64_t(change(uint64_t(offset))));
    return pattern(std::move(offsets), width, zeros);
  };
  if (operation.getOpcode() == Instruction::Shl)
    return by < width ? apply(a.trailingZeros + unsigned(by), [&](uint64_t o) { return o << by; }) : Shape{};
  bool signBitMayBeSet = a.trailingZeros >= width;
  if (!a.isDisjoint() || (signBitMayBeSet && llvm::any_of(a.offsets, [&](int64_t o) { return o >> (width - 1) & 1; })))
    return {};
  auto less = [&](uint64_t shift) { return a.trailingZeros == allZeros ? allZeros : a.trailingZeros - std::min<unsigned>(a.trailingZeros, unsigned(shift)); };
  switch (operation.getOpcode()) {
  case Instruction::And: return apply(a.trailingZeros, [&](uint64_t o) { return o & by; });
  case Instruction::LShr:
  case Instruction::AShr: return by < width ? apply(less(by), [&](uint64_t o) { return o >> by; }) : Shape{};
  case Instruction::UDiv:
    return llvm::isPowerOf2_64(by) ? apply(less(llvm::Log2_64(by)), [&](uint64_t o) { return o / by; }) : Shape{};
  case Instruction::URem:
    return llvm::isPowerOf2_64(by) ? apply(a.trailingZeros, [&](uint64_t o) { return o % by; }) : Shape{};
  default: return {};
  }
}

Shape Shapes::binary(const llvm::BinaryOperator &operation) const {
  const Value *left = operation.getOperand(0), *right = operation.getOperand(1);
  Shape a = of(left), b = of(right);
  if (a.isVarying() || b.isVarying() || !isPatternType(operation.getType()))
    return {};
  unsigned width = widthOf(operation.getType(), layout);
  unsigned zeros = std::min(zerosOf(left), zerosOf(right));
  switch (operation.getOpcode()) {
  case Instruction::Add: return pattern(combine(a, b, lanes, std::plus<uint64_t>()), width, zeros);
  case Instruction::Sub: return pattern(combine(a, b, lanes, std::minus<uint64_t>()), width, zeros);
  case Instruction::Or: // emitted as an addition
    if (llvm::cast<llvm::PossiblyDisjointInst>(operation).isDisjoint())
      return pattern(combine(a, b, lanes, std::plus<uint64_t>()), width, zeros);
    return {};
  case Instruction::Mul: {
    auto *constant = llvm::dyn_cast<llvm::ConstantInt>(right);
    if (!constant)
      return {};
    uint64_t factor = uint64_t(constant->getSExtValue());
    Offsets offsets;
    for (int64_t offset : a.offsets)
      offsets.push_back(int64_t(uint64_t(offset) * factor));
    return pattern(std::move(offsets), width, a.trailingZeros + unsigned(llvm::countr_zero(factor)));
  }
  default: return shifted(operation);
  }
}

Shape Shapes::cast(const llvm::CastInst &cast) const {
  Shape a = of(cast.getOperand(0));
  if (!a.isPattern() || !isPatternType(cast.getType()))
    return {};
  unsigned from = widthOf(cast.getSrcTy(), layout), to = widthOf(cast.getDestTy(), layout);
  switch (cast.getOpcode()) {
  case Instruction::Trunc: return pattern(a.offsets, to, a.trailingZeros);
  case Instruction::AddrSpaceCast: return a;
  case Instruction::PtrToInt:
  case Instruction::IntToPtr: return from == 64 && to == 64 ? a : Shape{};
  case Instruction::ZExt: return a.isDisjoint() ? pattern(a.offsets, to, a.trailingZeros) : Shape{};
  case Instruction::SExt: {
    bool touchesSign = llvm::any_of(a.offsets, [&](int64_t o) { return uint64_t(o) >> (from - 1) & 1; });
    return a.isDisjoint() && !touchesSign ? pattern(a.offsets, to, a.trailingZeros) : Shape{};
  }
  default: return {};
  }
}

Shape Shapes::element(const llvm::GetElementPtrInst &address) const {
  if (address.getType()->isVectorTy())
    return {};
  Shape base = of(address.getPointerOperand());
  if (base.isVarying())
    return {};
  Offsets offsets = offsetsOf(base, lanes);
  unsigned zeros = zerosOf(address.getPointerOperand());
  for (auto type = llvm::gep_type_begin(address); type != llvm::gep_type_end(address); ++type) {
    const Value *index = type.getOperand();
    if (llvm::StructType *structure = type.getStructTypeOrNull()) {
      uint64_t field = llvm::cast<llvm::ConstantInt>(index)->getZExtValue();
      uint64_t offset = layout.getStructLayout(structure)->getElementOffset(unsigned(field)).getFixedValue();
      zeros = std::min(zeros, offset ? unsigned(llvm::countr_zero(offset)) : allZeros);
      continue;
    }
    Shape shape = of(index);
    unsigned width = widthOf(index->getType(), layout);
    // A narrow index is sign-extended, so the sum must be known not to wrap before that.
    if (shape.isVarying() || (shape.isPattern() && width < 64 && !shape.isDisjoint()))
      return {};
    uint64_t stride = type.getSequentialElementStride(layout).getFixedValue();
    zeros = std::min<unsigned>(zeros, zerosOf(index) + (stride ? unsigned(llvm::countr_zero(stride)) : allZeros));
    if (shape.isPattern())
      for (unsigned lane = 0; lane < lanes; ++lane)
        offsets[lane] = int64_t(uint64_t(offsets[lane]) + uint64_t(shape.offsets[lane]) * stride);
  }
  return pattern(std::move(offsets), 64, zeros);
}

// Only where all who arrive have come the same way: in a loop's header each active thread has done as many rounds, and a
// value that only one way defines is nobody else's business.
Shape Shapes::joined(const llvm::PHINode &phi) const {
  if (!isPatternType(phi.getType()))
    return {};
  const llvm::Loop *loop = loops.getLoopFor(phi.getParent());
  bool isHeader = loop && loop->getHeader() == phi.getParent();
  std::optional<Shape> joined;
  unsigned ways = 0;
  for (const Value *incoming : phi.incoming_values()) {
    if (llvm::isa<llvm::UndefValue>(incoming))
      continue;
    ++ways;
    if (pending.contains(incoming))
      continue;
    Shape shape = of(incoming);
    shape.trailingZeros = zerosOf(incoming);
    if (shape.isVarying() || (joined && (joined->kind != shape.kind || joined->offsets != shape.offsets)))
      return {};
    unsigned zeros = joined ? std::min(joined->trailingZeros, shape.trailingZeros) : shape.trailingZeros;
    joined = std::move(shape);
    joined->trailingZeros = zeros;
  }
  if (ways != 1 && !isHeader && !commonJoins.contains(phi.getParent()))
    return {};
  bool leavesLoop = !isHeader && llvm::any_of(phi.incoming_values(), [&](const Value *incoming) {
    auto *source = llvm::dyn_cast<Instruction>(incoming);
    const llvm::Loop *inner = source ? loops.getLoopFor(source->getParent()) : nullptr;
    return inner && !inner->contains(phi.getParent());
  });
  // What leaves a loop may have left it in different rounds. A header whose value differs for no reason of its own is
  // uniform already.
  if (!joined || leavesLoop || !joined->isPattern())
    return {};
  return *joined;
}

// Where the other side is a multiple of more than the lanes' share, all lanes are on the same side of it.
Shape Shapes::compared(const llvm::ICmpInst &comparison) const {
  Shape a = of(comparison.getOperand(0)), b = of(comparison.getOperand(1));
  if (a.isVarying() || b.isVarying())
    return {};
  if (a.isUniform() && b.isUniform())
    return {Shape::Uniform};
  if (comparison.isEquality() && a.isPattern() && b.isPattern() && a.offsets == b.offsets)
    return {Shape::Uniform};
  llvm::CmpInst::Predicate predicate = comparison.getPredicate();
  const Value *other = comparison.getOperand(1);
  if (b.isPattern()) {
    std::swap(a, b);
    other = comparison.getOperand(0);
    predicate = llvm::CmpInst::getSwappedPredicate(predicate);
  }
  if (b.isPattern() || !a.isDisjoint() || !comparison.getOperand(0)->getType()->isIntegerTy())
    return {};
  bool split = predicate == llvm::CmpInst::ICMP_ULT || predicate == llvm::CmpInst::ICMP_SLT ||
               predicate == llvm::CmpInst::ICMP_UGE || predicate == llvm::CmpInst::ICMP_SGE;
  uint64_t most = uint64_t(*std::max_element(a.offsets.begin(), a.offsets.end()));
  unsigned width = comparison.getOperand(0)->getType()->getIntegerBitWidth();
  unsigned zeros = zerosOf(other);
  bool aligned = most < (uint64_t(1) << std::min(zeros, allZeros)) && llvm::Log2_64_Ceil(most + 1) < width;
  return split && aligned ? Shape{Shape::Uniform} : Shape{};
}

Shape Shapes::selected(const llvm::SelectInst &select) const {
  Shape condition = of(select.getCondition());
  Shape a = of(select.getTrueValue()), b = of(select.getFalseValue());
  if (!condition.isUniform() || !isPatternType(select.getType()) || a.kind != b.kind || a.offsets != b.offsets)
    return {};
  a.trailingZeros = std::min(zerosOf(select.getTrueValue()), zerosOf(select.getFalseValue()));
  return a;
}

Shape Shapes::derive(const Instruction &instruction) const {
  if (isLane(instruction)) {
    Offsets offsets;
    for (unsigned lane = 0; lane < lanes; ++lane)
      offsets.push_back(lane);
    return pattern(std::move(offsets), 32, allZeros);
  }
  if (auto *operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction))
    return operation->getType()->isIntegerTy() ? binary(*operation) : Shape{};
  if (auto *operation = llvm::dyn_cast<llvm::CastInst>(&instruction))
    return cast(*operation);
  if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction))
    return element(*address);
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&instruction))
    return joined(*phi);
  if (auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(&instruction))
    return compared(*comparison);
  if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&instruction))
    return selected(*select);
  if (llvm::isa<llvm::FreezeInst>(instruction))
    return of(instruction.getOperand(0)).isPattern() ? of(instruction.getOperand(0)) : Shape{};
  return {};
}

// Whether no branch on which threads part lies between `block` and where its ways began.
static bool isCommonJoin(llvm::BasicBlock &block, const llvm::DominatorTree &dominators, llvm::UniformityInfo &uniformity) {
  llvm::BasicBlock *begin = dominators.getNode(&block)->getIDom()->getBlock();
  llvm::SmallSetVector<llvm::BasicBlock *, 8> between;
  between.insert(llvm::pred_begin(&block), llvm::pred_end(&block));
  for (size_t i = 0; i < between.size(); ++i) {
    if (!dominators.isReachableFromEntry(between[i]) || uniformity.hasDivergentTerminator(*between[i]))
      return false;
    if (between[i] != begin)
      between.insert(llvm::pred_begin(between[i]), llvm::pred_end(between[i]));
  }
  return true;
}

Shapes::Shapes(llvm::Function &kernel, unsigned lanes, llvm::UniformityInfo &uniformity, const llvm::LoopInfo &loops)
    : lanes(lanes), layout(kernel.getDataLayout()), loops(loops) {
  llvm::ReversePostOrderTraversal<llvm::Function *> order(&kernel);
  llvm::DominatorTree dominators(kernel);
  for (llvm::BasicBlock *block : order)
    if (!block->isEntryBlock() && !block->phis().empty() && isCommonJoin(*block, dominators, uniformity))
      commonJoins.insert(block);
  for (llvm::BasicBlock *block : order)
    for (Instruction &instruction : *block)
      if (!instruction.getType()->isVoidTy() && uniformity.isDivergent(&instruction)) {
        shapes[&instruction] = {};
        pending.insert(&instruction);
      }
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::BasicBlock *block : order)
      for (Instruction &instruction : *block) {
        auto known = shapes.find(&instruction);
        if (known == shapes.end())
          continue;
        // An instruction waits for its operands, phis for any of them: nothing is said of code that nothing reaches.
        bool waits = !llvm::isa<llvm::PHINode>(instruction) &&
                     llvm::any_of(instruction.operands(), [&](Value *operand) { return pending.contains(operand); });
        bool wasPending = pending.contains(&instruction);
        if (waits || (!wasPending && known->second.isVarying()))
          continue;
        if (llvm::isa<llvm::PHINode>(instruction) &&
            llvm::all_of(instruction.operands(), [&](Value *operand) { return pending.contains(operand); }))
          continue;
        Shape shape = derive(instruction);
        if (!wasPending && (shape.kind != known->second.kind || shape.offsets != known->second.offsets))
          shape = {}; // a hope that did not hold
        bool same = !wasPending && shape.kind == known->second.kind && shape.trailingZeros == known->second.trailingZeros;
        pending.erase(&instruction);
        changed |= !same;
        known->second = std::move(shape);
      }
  }
  pending.clear();
}

} // namespace opsight::lower::warp
