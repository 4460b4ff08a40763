// drop_barriers: marks barriers that order nothing. Between two barriers the vectors of a block run one after another,
// each from the first to the second, so a barrier counts only for what one vector does on one side of it and another
// vector does on the other. Where no two of these touch one place (each vector reads the part of a shared array that it
// has itself written), the vector goes on: what it holds stays in registers, and the block's turn at the barrier is
// saved. Only barriers to which all threads of a block come together, whatever their number, are looked at: who does
// not come to a barrier is still told. The lanes of a vector go in step, so `vectorise` just leaves a marked barrier
// out.
#include "lower/spirv/warp_operations.h"
#include "lower/warp/intervals.h"
#include "lower/warp/passes.h"
#include <llvm/IR/InstIterator.h>

namespace opsight::lower::warp {

using llvm::Instruction;

constexpr size_t mostAccesses = 4096; // that are compared, on each side of a barrier

/// Whether nothing needs `barrier`, which has been dropped, and others maybe: round a loop, too, the question is what
/// would be without it.
static bool isIdle(Instruction *barrier, Intervals &intervals) {
  auto before = intervals.reach(barrier, true).accesses, behind = intervals.reach(barrier, false).accesses;
  if (before.size() > mostAccesses || behind.size() > mostAccesses)
    return false;
  for (Instruction *earlier : before)
    for (Instruction *later : behind) {
      auto &a = intervals.footprint(earlier), &b = intervals.footprint(later);
      if (a && b && mayMeet(*a, *b))
        return false;
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
  Footprints footprints(kernel, vectorsOf(context),
                        analyses.functions.getResult<llvm::ScalarEvolutionAnalysis>(kernel));
  Intervals intervals(kernel, footprints);
  for (Instruction *barrier : barriers) {
    if (!comesTogether(barrier->getParent(), after, uniformity))
      continue;
    intervals.drop(barrier);
    if (isIdle(barrier, intervals))
      barrier->setMetadata(idleMark, llvm::MDNode::get(kernel.getContext(), {}));
    else
      intervals.keep(barrier);
  }
  return {};
}

const Pass drop_barriers{"drop_barriers", "mark barriers on whose two sides no vector touches what another does", run};

} // namespace opsight::lower::warp
