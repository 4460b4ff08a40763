// See intervals.h.
#include "lower/warp/intervals.h"
#include "lower/spirv/warp_operations.h"
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>

namespace opsight::lower::warp {

using llvm::BasicBlock, llvm::Instruction;

bool ordersAll(const Instruction &instruction) {
  if (spirv::isGridBarrier(instruction))
    return true;
  return spirv::isBlockBarrier(instruction) &&
         llvm::cast<llvm::CallInst>(instruction).getCalledFunction()->getName().contains(".all");
}

bool comesTogether(BasicBlock *block, llvm::PostDominatorTree &after, llvm::UniformityInfo &uniformity) {
  llvm::SmallSetVector<BasicBlock *, 8> decided;
  decided.insert(block);
  for (size_t i = 0; i < decided.size(); ++i)
    for (BasicBlock &branch : *block->getParent()) {
      auto leadsThere = [&](BasicBlock *next) { return after.dominates(decided[i], next); };
      if (branch.getTerminator()->getNumSuccessors() < 2 || after.properlyDominates(decided[i], &branch) ||
          llvm::none_of(llvm::successors(&branch), leadsThere))
        continue;
      if (uniformity.hasDivergentTerminator(branch))
        return false;
      decided.insert(&branch);
    }
  return true;
}

Intervals::Intervals(llvm::Function &kernel, Footprints &footprints) : footprints_(footprints) {
  for (Instruction &instruction : llvm::instructions(kernel))
    if (instruction.mayReadOrWriteMemory() || ordersAll(instruction))
      ordered_[instruction.getParent()].push_back(&instruction);
}

Intervals::Reached Intervals::reach(Instruction *start, bool backward) const {
  Reached found;
  llvm::SmallPtrSet<BasicBlock *, 16> seen;
  llvm::SmallVector<BasicBlock *> waiting;
  auto scan = [&](BasicBlock *block, llvm::ArrayRef<Instruction *> ordered) {
    for (size_t i = 0; i < ordered.size(); ++i) {
      Instruction *instruction = backward ? ordered[ordered.size() - 1 - i] : ordered[i];
      if (ordersAll(*instruction) && !dropped_.contains(instruction)) {
        found.barriers.insert(instruction);
        return;
      }
      if (!ordersAll(*instruction))
        found.accesses.push_back(instruction);
    }
    size_t before = waiting.size();
    if (backward)
      waiting.append(llvm::pred_begin(block), llvm::pred_end(block));
    else
      waiting.append(llvm::succ_begin(block), llvm::succ_end(block));
    found.toTheEnd |= waiting.size() == before;
  };
  BasicBlock *home = start->getParent();
  llvm::SmallVector<Instruction *> own;
  for (Instruction *instruction : ordered_.lookup(home))
    if (instruction != start && instruction->comesBefore(start) == backward)
      own.push_back(instruction);
  scan(home, own);
  while (!waiting.empty())
    if (BasicBlock *block = waiting.pop_back_val(); seen.insert(block).second)
      scan(block, ordered_.lookup(block));
  return found;
}

const std::optional<Footprint> &Intervals::footprint(Instruction *access) {
  auto [place, isNew] = known_.try_emplace(access);
  if (isNew)
    place->second = footprints_.of(*access);
  return place->second;
}

} // namespace opsight::lower::warp
