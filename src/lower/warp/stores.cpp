// chooseStores of frame.h: two data flows over sets of kept values.
#include "lower/warp/frame.h"
#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>

namespace opsight::lower::warp {

using llvm::BasicBlock, llvm::BitVector, llvm::Instruction;

namespace {
/// A block's sets, over the values' numbers.
struct Sets {
  BitVector defined, keptAtEnd, loaded; // keptAtEnd: by the suspension that it ends with
  BitVector needed;                     // at its start: a suspension that keeps the value can still be reached
  BitVector held;                       // at its end: on some way here the frame holds the value
};

class Flow {
public:
  Flow(llvm::Function &kernel, llvm::ArrayRef<Suspension> suspensions);
  Stores choose();

private:
  void findNeeded();
  void findHeld();
  /// At the start of `block`: what may be in the frame and is needed there.
  BitVector heldBefore(BasicBlock *block);
  bool resumes(BasicBlock *block) { return sets_[block].loaded.size() != 0; }

  llvm::ArrayRef<Suspension> suspensions_;
  llvm::MapVector<Instruction *, unsigned> numbers_;
  llvm::DenseMap<BasicBlock *, Sets> sets_;
  std::vector<BasicBlock *> order_; // reverse post-order
};
} // namespace

Flow::Flow(llvm::Function &kernel, llvm::ArrayRef<Suspension> suspensions) : suspensions_(suspensions) {
  for (const Suspension &suspension : suspensions)
    for (Instruction *value : suspension.kept)
      numbers_.try_emplace(value, unsigned(numbers_.size()));
  BitVector none(unsigned(numbers_.size()));
  for (BasicBlock *block : llvm::ReversePostOrderTraversal<llvm::Function *>(&kernel)) {
    order_.push_back(block);
    sets_[block] = {none, none, {}, none, none};
  }
  for (auto [value, number] : numbers_)
    sets_[value->getParent()].defined.set(number);
  for (const Suspension &suspension : suspensions) {
    BitVector kept = none;
    for (Instruction *value : suspension.kept)
      kept.set(numbers_[value]);
    sets_[suspension.leaves].keptAtEnd = kept;
    sets_[suspension.resumes].loaded = kept;
  }
}

void Flow::findNeeded() {
  for (bool changed = true; changed;) {
    changed = false;
    for (BasicBlock *block : llvm::reverse(order_)) {
      Sets &own = sets_[block];
      BitVector now = own.keptAtEnd;
      for (BasicBlock *next : llvm::successors(block))
        if (!resumes(next)) // that way leads through the frame
          now |= sets_[next].needed;
      now.reset(own.defined);
      changed |= now != own.needed;
      own.needed = std::move(now);
    }
  }
}

BitVector Flow::heldBefore(BasicBlock *block) {
  BitVector held(unsigned(numbers_.size()));
  for (BasicBlock *before : llvm::predecessors(block))
    held |= sets_[before].held;
  return held &= sets_[block].needed;
}

void Flow::findHeld() {
  for (bool changed = true; changed;) {
    changed = false;
    for (BasicBlock *block : order_) {
      Sets &own = sets_[block];
      BitVector now = resumes(block) ? own.loaded : heldBefore(block).reset(own.defined);
      changed |= now != own.held;
      own.held = std::move(now);
    }
  }
}

Stores Flow::choose() {
  findNeeded();
  findHeld();
  Stores stores;
  for (const Suspension &suspension : suspensions_) {
    auto &chosen = stores.atSuspension.emplace_back();
    for (Instruction *value : suspension.kept)
      if (!sets_[suspension.leaves].held.test(numbers_[value]))
        chosen.push_back(value);
  }
  for (BasicBlock *block : order_) {
    if (resumes(block))
      continue;
    BitVector held = heldBefore(block);
    for (BasicBlock *before : llvm::predecessors(block))
      for (auto [value, number] : numbers_)
        if (held.test(number) && !sets_[before].held.test(number))
          if (auto &early = stores.onEdges[{before, block}]; !llvm::is_contained(early, value)) // a switch has many edges
            early.push_back(value);
  }
  return stores;
}

Stores chooseStores(llvm::Function &kernel, llvm::ArrayRef<Suspension> suspensions) {
  return Flow(kernel, suspensions).choose();
}

} // namespace opsight::lower::warp
