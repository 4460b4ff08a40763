// See frame.h.
#include "lower/warp/frame.h"
#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MathExtras.h>
#include <algorithm>

namespace opsight::lower::warp {

using llvm::BasicBlock, llvm::Instruction, llvm::Value;

/// Operations that a value may cost to be made anew: about what its store and load would.
constexpr unsigned remakeLimit = 6;
constexpr unsigned tooDear = remakeLimit + 1;

/// The blocks at whose start `value` is still needed.
static llvm::SmallPtrSet<BasicBlock *, 16> liveIn(const Instruction &value) {
  llvm::SmallPtrSet<BasicBlock *, 16> blocks;
  llvm::SmallVector<BasicBlock *> work;
  auto need = [&](BasicBlock *block) { // at its end
    if (block != value.getParent() && blocks.insert(block).second)
      work.push_back(block);
  };
  for (const llvm::Use &use : value.uses()) {
    auto *user = llvm::cast<Instruction>(use.getUser());
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(user))
      need(phi->getIncomingBlock(use));
    else
      need(user->getParent());
  }
  while (!work.empty())
    for (BasicBlock *before : llvm::predecessors(work.pop_back_val()))
      need(before);
  return blocks;
}

/// Without side effects, the same whenever it is done, and about as fast as a load.
static bool isCheap(const Instruction &instruction) {
  using namespace llvm;
  if (auto *binary = dyn_cast<BinaryOperator>(&instruction))
    return !instruction.isIntDivRem() && binary->getOpcode() != Instruction::FDiv && binary->getOpcode() != Instruction::FRem;
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
    return isa<MinMaxIntrinsic>(call);
  return isa<CastInst, GetElementPtrInst, CmpInst, SelectInst, InsertElementInst, ExtractElementInst, ShuffleVectorInst>(
             instruction) ||
         instruction.getOpcode() == Instruction::FNeg;
}

/// Operations to make `value` out of `there`, arguments and constants; `tooDear` when it takes more than are worth it.
static unsigned costOf(const Value *value, const llvm::SmallPtrSetImpl<const Value *> &there) {
  auto *instruction = llvm::dyn_cast<Instruction>(value);
  if (!instruction || llvm::isa<llvm::AllocaInst>(instruction) || there.contains(value))
    return 0;
  if (!isCheap(*instruction))
    return tooDear;
  unsigned cost = 1;
  for (const Value *operand : instruction->operands())
    if ((cost += costOf(operand, there)) > remakeLimit)
      return tooDear;
  return cost;
}

/// `value` and what must be made before it, operands first.
static void addRemade(Instruction *value, llvm::SmallPtrSetImpl<const Value *> &there,
                      llvm::SmallVectorImpl<Instruction *> &remade) {
  for (Value *operand : value->operands())
    if (auto *before = llvm::dyn_cast<Instruction>(operand); before && costOf(before, there) > 0)
      addRemade(before, there, remade);
  if (there.insert(value).second)
    remade.push_back(value);
}

void chooseKept(llvm::Function &kernel, llvm::MutableArrayRef<Suspension> suspensions) {
  std::vector<llvm::SmallPtrSet<const Value *, 32>> there(suspensions.size());
  // In reverse post-order a value's operands were decided before it.
  for (BasicBlock *block : llvm::ReversePostOrderTraversal<llvm::Function *>(&kernel))
    for (Instruction &value : *block) {
      if (value.use_empty() || llvm::isa<llvm::AllocaInst>(value))
        continue;
      auto blocks = liveIn(value);
      for (size_t i = 0; i < suspensions.size(); ++i) {
        if (!blocks.contains(suspensions[i].resumes))
          continue;
        if (costOf(&value, there[i]) > remakeLimit)
          suspensions[i].kept.push_back(&value), there[i].insert(&value);
        else
          addRemade(&value, there[i], suspensions[i].remade);
      }
    }
}

static uint64_t bytesOf(const Instruction &value) {
  return value.getModule()->getDataLayout().getTypeStoreSize(value.getType());
}

static uint64_t alignmentOf(const Instruction &value) {
  uint64_t natural = value.getModule()->getDataLayout().getABITypeAlign(value.getType()).value();
  return std::min(natural, frameAlignment);
}

/// The lowest offset at which `value` meets none of `taken`, [first, end) each, which gets sorted.
static uint64_t firstFit(const Instruction &value, llvm::SmallVectorImpl<std::pair<uint64_t, uint64_t>> &taken) {
  llvm::sort(taken);
  uint64_t offset = llvm::alignTo(frameHeader, alignmentOf(value));
  for (auto [first, end] : taken)
    if (offset < end && first < offset + bytesOf(value))
      offset = llvm::alignTo(end, alignmentOf(value));
  return offset;
}

FrameLayout layOutFrame(llvm::ArrayRef<Suspension> suspensions, llvm::ArrayRef<llvm::AllocaInst *> allocas) {
  FrameLayout layout;
  layout.bytes = frameHeader;
  llvm::MapVector<Instruction *, llvm::BitVector> keptAt;
  for (size_t i = 0; i < suspensions.size(); ++i)
    for (Instruction *value : suspensions[i].kept)
      keptAt.try_emplace(value, llvm::BitVector(unsigned(suspensions.size()))).first->second.set(unsigned(i));
  llvm::SmallVector<Instruction *> order;
  for (bool vectors : {true, false})
    for (auto &[value, suspended] : keptAt)
      if ((bytesOf(*value) > 8) == vectors)
        order.push_back(value);
  for (Instruction *value : order) {
    llvm::SmallVector<std::pair<uint64_t, uint64_t>> taken;
    for (auto [other, offset] : layout.offsets)
      if (keptAt[value].anyCommon(keptAt[const_cast<Instruction *>(other)]))
        taken.push_back({offset, offset + bytesOf(*other)});
    uint64_t offset = firstFit(*value, taken);
    layout.offsets[value] = offset;
    layout.bytes = std::max(layout.bytes, offset + bytesOf(*value));
  }
  for (llvm::AllocaInst *alloca : allocas) {
    uint64_t offset = llvm::alignTo(layout.bytes, alloca->getAlign());
    layout.alignment = std::max(layout.alignment, alloca->getAlign().value());
    layout.offsets[alloca] = offset;
    layout.bytes = offset + alloca->getAllocationSize(alloca->getModule()->getDataLayout())->getFixedValue();
  }
  // An odd number of such units: warps' frames lie one behind the other, and the same slot of each should not fall into the
  // same few sets of the cache.
  layout.bytes = (llvm::divideCeil(layout.bytes, layout.alignment) | 1) * layout.alignment;
  return layout;
}

} // namespace opsight::lower::warp
