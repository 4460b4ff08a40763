// drop_barriers: marks barriers that order nothing. Between two barriers the vectors of a block run one after another, each
// from the first to the second, so a barrier counts only for what one vector does on one side of it and another vector
// does on the other. Where no two of these touch one place (each vector reads the part of a shared array that it has
// itself written), the vector goes on: what it holds stays in registers, and the block's turn at the barrier is saved.
// Only barriers to which all threads of a block come together, whatever their number, are looked at: who does not come
// to a barrier is still told. The lanes of a vector go in step, so `vectorise` just leaves a marked barrier out.
#include "lower/spirv/warp_operations.h"
#include "lower/warp/divergence.h"
#include "lower/warp/footprint.h"
#include "lower/warp/passes.h"
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>

namespace opsight::lower::warp {

using llvm::BasicBlock, llvm::Instruction;

constexpr size_t mostPlaces = 4096; // instructions in memory that are compared, on each side of a barrier

namespace {
/// What lies between barriers, in the kernel as it stands.
class Intervals {
public:
  Intervals(llvm::Function &kernel, Footprints &footprints);
  /// Whether nothing needs `barrier`, given those that have been dropped.
  bool isIdle(Instruction *barrier);
  void drop(Instruction *barrier) { dropped_.insert(barrier); }

private:
  using Places = llvm::SmallVector<Instruction *>;
  Places reachable(Instruction *barrier, bool backward);
  const std::optional<Footprint> &footprint(Instruction *instruction);
  bool stopsAt(Instruction *instruction) const;

  Footprints &footprints_;
  llvm::DenseMap<BasicBlock *, llvm::SmallVector<Instruction *>> ordered_; // barriers and what may touch memory
  llvm::MapVector<Instruction *, std::optional<Footprint>> known_;
  llvm::SmallPtrSet<Instruction *, 8> dropped_;
};
} // namespace

/// All threads of the block wait there for each other; what is on its two sides is ordered.
static bool ordersAll(const Instruction &instruction) {
  return spirv::isGridBarrier(instruction) ||
         (spirv::isBlockBarrier(instruction) &&
          llvm::cast<llvm::CallInst>(instruction).getCalledFunction()->getName().contains(".all"));
}

Intervals::Intervals(llvm::Function &kernel, Footprints &footprints) : footprints_(footprints) {
  for (Instruction &instruction : llvm::instructions(kernel))
    if (instruction.mayReadOrWriteMemory() || ordersAll(instruction))
      ordered_[instruction.getParent()].push_back(&instruction);
}

bool Intervals::stopsAt(Instruction *instruction) const { return ordersAll(*instruction) && !dropped_.contains(instruction); }

/// What may be done between `barrier` and the barriers before or behind it.
Intervals::Places Intervals::reachable(Instruction *barrier, bool backward) {
  Places found;
  llvm::SmallPtrSet<BasicBlock *, 16> seen;
  llvm::SmallVector<BasicBlock *> waiting;
  auto scan = [&](BasicBlock *block, llvm::ArrayRef<Instruction *> ordered) {
    for (size_t i = 0; i < ordered.size(); ++i) {
      Instruction *instruction = backward ? ordered[ordered.size() - 1 - i] : ordered[i];
      if (instruction == barrier)
        continue; // round a loop: the question is what would be without it
      if (stopsAt(instruction))
        return;
      found.push_back(instruction);
    }
    if (backward)
      waiting.append(llvm::pred_begin(block), llvm::pred_end(block));
    else
      waiting.append(llvm::succ_begin(block), llvm::succ_end(block));
  };
  BasicBlock *home = barrier->getParent();
  llvm::ArrayRef<Instruction *> own = ordered_[home];
  auto at = size_t(llvm::find(own, barrier) - own.begin());
  scan(home, backward ? own.take_front(at) : own.drop_front(at + 1));
  while (!waiting.empty())
    if (BasicBlock *block = waiting.pop_back_val(); seen.insert(block).second)
      scan(block, ordered_[block]);
  return found;
}

const std::optional<Footprint> &Intervals::footprint(Instruction *instruction) {
  auto [place, isNew] = known_.try_emplace(instruction);
  if (isNew)
    place->second = ordersAll(*instruction) ? std::nullopt : footprints_.of(*instruction);
  return place->second;
}

bool Intervals::isIdle(Instruction *barrier) {
  Places before = reachable(barrier, true), behind = reachable(barrier, false);
  if (before.size() > mostPlaces || behind.size() > mostPlaces)
    return false;
  for (Instruction *earlier : before)
    for (Instruction *later : behind) {
      auto a = footprint(earlier), b = footprint(later);
      if (a && b && mayMeet(*a, *b))
        return false;
    }
  return true;
}

/// The branches that decide, themselves or through others, whether `block` is run are the same for the whole block.
static bool comesTogether(BasicBlock *block, llvm::PostDominatorTree &after, llvm::UniformityInfo &uniformity) {
  llvm::SmallSetVector<BasicBlock *, 8> decided;
  decided.insert(block);
  for (size_t i = 0; i < decided.size(); ++i)
    for (BasicBlock &branch : *block->getParent()) {
      bool decides = !after.properlyDominates(decided[i], &branch) && branch.getTerminator()->getNumSuccessors() > 1 &&
                     llvm::any_of(llvm::successors(&branch), [&](BasicBlock *next) { return after.dominates(decided[i], next); });
      if (!decides)
        continue;
      if (uniformity.hasDivergentTerminator(branch))
        return false;
      decided.insert(&branch);
    }
  return true;
}

/// In the order of the code.
static llvm::SmallVector<Instruction *> plainBarriers(llvm::Function &kernel) {
  llvm::SmallVector<Instruction *> found;
  for (Instruction &instruction : llvm::instructions(kernel))
    if (ordersAll(instruction) && spirv::isBlockBarrier(instruction) && instruction.getType()->isVoidTy())
      found.push_back(&instruction);
  return found;
}

static Status run(Context &context) {
  llvm::Function &kernel = *context.kernel;
  auto barriers = plainBarriers(kernel);
  if (barriers.empty() || context.target.watched != Watched::No) // who watches is told of every barrier
    return {};
  BlockAnalyses analyses;
  auto &uniformity = analyses.functions.getResult<llvm::UniformityInfoAnalysis>(kernel);
  auto &after = analyses.functions.getResult<llvm::PostDominatorTreeAnalysis>(kernel);
  unsigned warps = unsigned((context.target.block.count() + context.target.lanes - 1) / context.target.lanes);
  Footprints footprints(kernel, warps, analyses.functions.getResult<llvm::ScalarEvolutionAnalysis>(kernel));
  Intervals intervals(kernel, footprints);
  for (Instruction *barrier : barriers) {
    if (!comesTogether(barrier->getParent(), after, uniformity) || !intervals.isIdle(barrier))
      continue;
    intervals.drop(barrier);
    barrier->setMetadata(idleMark, llvm::MDNode::get(kernel.getContext(), {}));
  }
  return {};
}

const Pass drop_barriers{"drop_barriers", "mark barriers on whose two sides no vector touches what another does", run};

} // namespace opsight::lower::warp
