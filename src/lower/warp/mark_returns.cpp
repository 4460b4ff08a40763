// mark_returns: numbers the barriers' places, and notes at each branch from which some threads come to no barrier any more
// that they have gone: they count no more at barriers, as on the hardware. What they still do before they return is not
// looked at: optimisers join it with what the others do at their end. Who is missing without having gone is a fault that
// `vectorise` has reported. Runs before `structure`, which makes one return of all.
#include "lower/spirv/warp_operations.h"
#include "lower/warp/emitter.h"
#include "lower/warp/passes.h"
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>

namespace opsight::lower::warp {

using llvm::BasicBlock;

static bool numberPlaces(Context &context) {
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel)) {
    if (!spirv::isBlockBarrier(instruction))
      continue;
    llvm::IRBuilder<> b(&instruction);
    llvm::Constant *number = b.getInt32(uint32_t(context.places.size()));
    context.places.push_back(placeOf(instruction));
    instruction.setMetadata("opsight.place", llvm::MDNode::get(instruction.getContext(), llvm::ConstantAsMetadata::get(number)));
  }
  return !context.places.empty();
}

/// The blocks from whose start a barrier can be reached.
static llvm::SmallPtrSet<const BasicBlock *, 16> waysToBarriers(const llvm::Function &kernel) {
  llvm::SmallVector<const BasicBlock *> waiting;
  llvm::SmallPtrSet<const BasicBlock *, 16> found;
  for (const BasicBlock &block : kernel)
    if (llvm::any_of(block, [](const llvm::Instruction &instruction) { return instruction.getMetadata("opsight.place"); }))
      waiting.push_back(&block);
  while (!waiting.empty()) {
    const BasicBlock *block = waiting.pop_back_val();
    if (found.insert(block).second)
      waiting.append(llvm::pred_begin(block), llvm::pred_end(block));
  }
  return found;
}

// A switch becomes branches, which can be told of one by one.
static void lowerSwitches(llvm::Function &kernel) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerSwitchPass());
  WarpAnalyses analyses;
  passes.run(kernel, analyses.functions);
}

static Status run(Context &context) {
  if (!numberPlaces(context))
    return {};
  llvm::FunctionCallee retire = context.module.getOrInsertFunction(
      retireName, llvm::Type::getVoidTy(context.module.getContext()), llvm::Type::getInt1Ty(context.module.getContext()));
  lowerSwitches(*context.kernel);
  auto leadsToBarrier = waysToBarriers(*context.kernel);
  for (BasicBlock &block : *context.kernel) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional())
      continue;
    bool goes = !leadsToBarrier.contains(branch->getSuccessor(0));
    if (goes == !leadsToBarrier.contains(branch->getSuccessor(1)))
      continue;
    llvm::IRBuilder<> b(branch);
    b.CreateCall(retire, goes ? branch->getCondition() : b.CreateNot(branch->getCondition()));
  }
  return {};
}

const Pass mark_returns{"mark_returns", "note where threads have gone for good, and where barriers stand", run};

} // namespace opsight::lower::warp
