// structure: afterwards a branch that differs between threads either guards a region that runs for some of them and ends
// where all meet again, or is the only exit of a loop, at its end. LLVM's passes do the work; they leave alone what all
// threads do together.
#include "lower/warp/control.h"
#include "lower/warp/passes.h"
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Scalar/StructurizeCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/FixIrreducible.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>
#include <llvm/Transforms/Utils/UnifyLoopExits.h>

namespace opsight::lower::warp {

constexpr unsigned mostRounds = 4;

// What comes after a trap is reached by nobody, but the threads that do not trap must find a way past it.
static void returnAfterTraps(llvm::Function &kernel) {
  for (llvm::BasicBlock &block : kernel)
    if (auto *end = llvm::dyn_cast<llvm::UnreachableInst>(block.getTerminator()))
      llvm::ReplaceInstWithInst(end, llvm::ReturnInst::Create(kernel.getContext()));
}

/// Whether some branch, but those that end loops, parts threads on ways that do not guard a region.
static bool isUnstructured(llvm::Function &kernel) {
  WarpAnalyses analyses;
  return !Control(kernel, analyses.functions).check(kernel);
}

// The pass skips regions of common branches, by what held before it began. Which way out of a loop a round takes may be
// common to the threads in it, and is not behind the loop, which they left in different rounds: the next round sees that.
static void structureAgain(llvm::Function &kernel) {
  for (llvm::BasicBlock &block : kernel)
    block.getTerminator()->setMetadata("structurizecfg.uniform", nullptr);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::StructurizeCFGPass(/*SkipUniformRegions=*/true));
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  WarpAnalyses analyses;
  passes.run(kernel, analyses.functions);
}

static Status run(Context &context) {
  returnAfterTraps(*context.kernel);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::UnifyFunctionExitNodesPass());
  passes.addPass(llvm::FixIrreduciblePass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::UnifyLoopExitsPass());
  passes.addPass(llvm::StructurizeCFGPass(/*SkipUniformRegions=*/true));
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  WarpAnalyses analyses;
  passes.run(*context.kernel, analyses.functions);
  for (unsigned round = 0; round < mostRounds && isUnstructured(*context.kernel); ++round)
    structureAgain(*context.kernel);
  llvm::EliminateUnreachableBlocks(*context.kernel); // nobody comes from them, and `vectorise` has no vectors of theirs
  return {}; // `vectorise` tells what is still unstructured
}

const Pass structure{"structure", "branches that differ between threads guard regions or end loops", run};

} // namespace opsight::lower::warp
