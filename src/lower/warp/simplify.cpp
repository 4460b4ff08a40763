// simplify: LLVM's scalar passes on what one thread does, before vectors hide it. Thread indices have just become
// arithmetic, local arrays may become registers, vector types of the source become scalars, and counters of loops get
// the width of addresses, so that no extension stands between a lane's constant and its address.
#include "lower/analyses.h"
#include "lower/warp/divergence.h"
#include "lower/warp/passes.h"
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/JumpThreading.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace opsight::lower::warp {

// Unoptimised code leaves scopes through blocks in common, with a number that says where to then: who returns out of a
// loop seems to wait, at the loop's end, for those who stay. Each goes straight to where it ends up. The pass does nothing
// for targets whose threads part, hence the neutral costs.
static void goStraight(llvm::Function &kernel) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::JumpThreadingPass());
  runFunctionPasses(kernel, passes);
}

static Status run(Context &context) {
  goStraight(*context.kernel);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::ScalarizerPass());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().speculateBlocks(true)));
  llvm::LoopPassManager loops;
  loops.addPass(llvm::IndVarSimplifyPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops)));
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::ScalarizerPass()); // once more: passes since may have carried vectors past stores and joins
  passes.addPass(llvm::EarlyCSEPass());
  WarpAnalyses analyses;
  passes.run(*context.kernel, analyses.functions);
  return {};
}

const Pass simplify{"simplify", "LLVM's scalar passes on what one thread does", run};

} // namespace opsight::lower::warp
