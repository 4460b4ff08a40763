// How the threads of a warp part and meet, read off the control flow that `structure` leaves: a divergent branch either
// guards a region (`then`) and meets the others at `join`, or ends a loop.
#pragma once
#include "base/error.h"
#include "lower/warp/divergence.h"
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <optional>

namespace opsight::lower::warp {

struct Guard {
  llvm::BasicBlock *then = nullptr, *join = nullptr;
  bool onTrue = true; // the region runs for those whose condition holds
};

/// Where a block's mask comes from.
struct MaskSource {
  enum Kind {
    Entry,     // the threads that exist
    Full,      // every lane, as `all_active` has asked
    Guarded,   // those of `block` for which its guard's condition holds
    LoopTop,   // those that go on: at first those of `block`, the loop's preheader
    SameAs,    // those of `block`
  } kind = Entry;
  llvm::BasicBlock *block = nullptr;
};

class Control {
public:
  Control(llvm::Function &kernel, llvm::FunctionAnalysisManager &analyses);

  /// An internal error where a divergent branch is neither a guard nor a loop's end.
  Status check(llvm::Function &kernel) const;
  std::optional<Guard> guardOf(const llvm::BasicBlock *block) const;
  /// The loop that the divergent branch of `block` ends.
  llvm::Loop *endedLoop(const llvm::BasicBlock *block) const;
  bool isDivergentLoop(const llvm::Loop *loop) const { return divergentLoops.contains(loop); }
  MaskSource maskOf(llvm::BasicBlock *block) const;
  llvm::Loop *loopWithHeader(const llvm::BasicBlock *block) const;
  llvm::BasicBlock *dominator(const llvm::BasicBlock *block) const;

private:
  bool isDivergentBranch(const llvm::BasicBlock *block) const;

  llvm::UniformityInfo &uniformity;
  llvm::LoopInfo &loops;
  llvm::DominatorTree &before;
  llvm::PostDominatorTree &after;
  llvm::SmallPtrSet<const llvm::Loop *, 8> divergentLoops;
};

} // namespace opsight::lower::warp
