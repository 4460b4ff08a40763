// What the threads of a block may do between two of its barriers, in a kernel before `vectorise`.
#pragma once
#include "lower/warp/divergence.h"
#include "lower/warp/footprint.h"
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/PostDominators.h>
#include <unordered_map>

namespace opsight::lower::warp {

/// Whether all threads of the block wait for each other there, so that what is on its two sides is ordered.
bool ordersAll(const llvm::Instruction &instruction);

/// Whether the branches that decide, themselves or through others, if `block` is run are the same for the whole block
/// of threads, as BlockAnalyses know it: then all its threads come to it, or none.
bool comesTogether(llvm::BasicBlock *block, llvm::PostDominatorTree &after, llvm::UniformityInfo &uniformity);

class Intervals {
public:
  Intervals(llvm::Function &kernel, Footprints &footprints);

  struct Reached {
    llvm::SmallVector<llvm::Instruction *> accesses; // that may touch memory
    llvm::SmallPtrSet<llvm::Instruction *, 4> barriers;
    bool toTheEnd = false; // some way comes to the kernel's start, or its end, without a barrier
  };
  /// What is done on the ways from `start` to the next barriers, backward or forward, not `start` itself.
  Reached reach(llvm::Instruction *start, bool backward) const;
  const std::optional<Footprint> &footprint(llvm::Instruction *access);
  /// From now on the ways lead through `barrier`.
  void drop(llvm::Instruction *barrier) { dropped_.insert(barrier); }
  void keep(llvm::Instruction *barrier) { dropped_.erase(barrier); }

private:
  Footprints &footprints_;
  llvm::DenseMap<llvm::BasicBlock *, llvm::SmallVector<llvm::Instruction *>> ordered_; // barriers and accesses
  std::unordered_map<llvm::Instruction *, std::optional<Footprint>> known_; // its elements stay where they are
  llvm::SmallPtrSet<llvm::Instruction *, 8> dropped_;
};

} // namespace opsight::lower::warp
