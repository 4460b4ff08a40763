// mark_uniform: what constants of the lane prove to be the same for the whole warp is marked so, for LLVM's analysis:
// with vectors of 16, `threadIdx.x < 128` and `threadIdx.x / 32` do not differ within one.
#include "lower/warp/passes.h"
#include "lower/warp/patterns.h"
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Utils/LCSSA.h>

namespace opsight::lower::warp {

static bool markMore(Context &context) {
  WarpAnalyses analyses;
  auto &uniformity = analyses.functions.getResult<llvm::UniformityInfoAnalysis>(*context.kernel);
  auto &loops = analyses.functions.getResult<llvm::LoopAnalysis>(*context.kernel);
  Shapes shapes(*context.kernel, context.target.lanes, uniformity, loops);
  llvm::SmallVector<llvm::Instruction *> found;
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel))
    if (!instruction.getType()->isVoidTy() && uniformity.isDivergent(&instruction) && shapes.of(&instruction).isUniform())
      found.push_back(&instruction);
  for (llvm::Instruction *instruction : found)
    instruction->setMetadata(uniformMark, llvm::MDNode::get(instruction->getContext(), {}));
  return !found.empty();
}

// What is common within a loop is not behind it, which threads reach in different rounds: there a phi stands for it.
static void closeLoops(llvm::Function &kernel) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LCSSAPass());
  WarpAnalyses analyses;
  passes.run(kernel, analyses.functions);
}

static Status run(Context &context) {
  closeLoops(*context.kernel);
  while (markMore(context)) {
    // A branch found to be common may make more so.
  }
  return {};
}

const Pass mark_uniform{"mark_uniform", "mark what the lanes' constants prove to be common to a warp", run};

} // namespace opsight::lower::warp
