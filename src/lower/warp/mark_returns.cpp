// mark_returns: numbers the barriers' places, and notes at each branch from which some threads come to no barrier any more
// that they have gone: they count no more at barriers, as on the hardware. What they still do in memory before they return
// is done before the others go on: those may come to a barrier, behind which they see it. Optimisers join its end with what
// the others do at theirs, so that end gets a copy. Who is missing without having gone is a fault that `vectorise` has
// reported. Runs before `structure`, which makes one return of all.
#include "lower/spirv/warp_operations.h"
#include "lower/warp/divergence.h"
#include "lower/warp/emitter.h"
#include "lower/warp/passes.h"
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>

namespace opsight::lower::warp {

using llvm::BasicBlock;

static bool numberPlaces(Context &context) {
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel)) {
    if (!spirv::isBarrier(instruction))
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

using Blocks = llvm::SmallSetVector<BasicBlock *, 16>;

/// What those who take the way to `first` still do.
static Blocks reachedFrom(BasicBlock *first) {
  Blocks found;
  found.insert(first);
  for (size_t i = 0; i < found.size(); ++i)
    found.insert(llvm::succ_begin(found[i]), llvm::succ_end(found[i]));
  return found;
}

/// Those of `blocks` that are reached from `from` alone.
static Blocks onlyFrom(BasicBlock *from, const Blocks &blocks) {
  Blocks own = blocks;
  auto isOthers = [&](BasicBlock *block) {
    return llvm::any_of(llvm::predecessors(block), [&](BasicBlock *before) { return before != from && !own.contains(before); });
  };
  while (own.remove_if(isOthers)) {
  }
  return own;
}

static bool touchesMemory(const Blocks &blocks) {
  return llvm::any_of(blocks, [](BasicBlock *block) {
    return llvm::any_of(*block, [](llvm::Instruction &it) { return it.mayReadOrWriteMemory() && !it.isDebugOrPseudoInst(); });
  });
}

/// Gives those who come from `from` and from `own` a copy of `shared`, which they enter nowhere else, and adds it to `own`.
static void copyFor(BasicBlock *from, Blocks &own, const Blocks &shared) {
  llvm::ValueToValueMapTy copies;
  llvm::SmallVector<BasicBlock *> made;
  for (BasicBlock *block : shared) {
    made.push_back(llvm::CloneBasicBlock(block, copies, ".gone", block->getParent()));
    copies[block] = made.back();
  }
  llvm::remapInstructionsInBlocks(made, copies);
  auto isOurs = [&](BasicBlock *before) { return before == from || own.contains(before); };
  for (auto [block, copy] : llvm::zip(shared, made)) {
    for (llvm::PHINode &phi : copy->phis())
      phi.removeIncomingValueIf([&](unsigned i) {
        BasicBlock *before = phi.getIncomingBlock(i);
        return !isOurs(before) && !llvm::is_contained(made, before);
      }, /*DeletePHIIfEmpty=*/false);
    llvm::SmallVector<BasicBlock *> before(llvm::predecessors(block));
    for (BasicBlock *way : before)
      if (isOurs(way)) {
        way->getTerminator()->replaceSuccessorWith(block, copy);
        block->removePredecessor(way, /*KeepOneInputPHIs=*/true);
      }
  }
  own.insert(made.begin(), made.end());
}

/// Instructions that may be there twice.
constexpr unsigned mostCopied = 256;

/// Has those who leave by `branch` do what they still do before the others go on.
static void leaveFirst(llvm::BranchInst *branch, unsigned away) {
  BasicBlock *from = branch->getParent(), *others = branch->getSuccessor(1 - away);
  Blocks all = reachedFrom(branch->getSuccessor(away)), own = onlyFrom(from, all), shared;
  unsigned copied = 0;
  for (BasicBlock *block : all)
    if (!own.contains(block))
      shared.insert(block), copied += unsigned(block->size());
  if (!touchesMemory(all) || copied > mostCopied)
    return;
  copyFor(from, own, shared);
  llvm::Function *kernel = from->getParent();
  BasicBlock *gone = BasicBlock::Create(kernel->getContext(), "gone", kernel);
  BasicBlock *stay = BasicBlock::Create(kernel->getContext(), "stay", kernel, others);
  llvm::ReturnInst::Create(kernel->getContext(), gone);
  llvm::BranchInst *again = llvm::BranchInst::Create(gone, others, branch->getCondition(), stay);
  again->setDebugLoc(branch->getDebugLoc());
  if (away == 1)
    again->swapSuccessors();
  others->replacePhiUsesWith(from, stay);
  branch->setSuccessor(1 - away, stay);
  for (BasicBlock *block : own)
    if (auto *end = llvm::dyn_cast<llvm::ReturnInst>(block->getTerminator()))
      llvm::ReplaceInstWithInst(end, llvm::BranchInst::Create(stay));
}

static Status run(Context &context) {
  if (!numberPlaces(context))
    return {};
  llvm::FunctionCallee retire = context.module.getOrInsertFunction(
      retireName, llvm::Type::getVoidTy(context.module.getContext()), llvm::Type::getInt1Ty(context.module.getContext()));
  lowerSwitches(*context.kernel);
  auto leadsToBarrier = waysToBarriers(*context.kernel);
  WarpAnalyses analyses;
  auto &uniformity = analyses.functions.getResult<llvm::UniformityInfoAnalysis>(*context.kernel);
  llvm::SmallVector<std::pair<llvm::BranchInst *, unsigned>> parting;
  for (BasicBlock &block : *context.kernel) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional())
      continue;
    bool goes = !leadsToBarrier.contains(branch->getSuccessor(0));
    if (goes == !leadsToBarrier.contains(branch->getSuccessor(1)))
      continue;
    llvm::IRBuilder<> b(branch);
    if (uniformity.hasDivergentTerminator(block))
      parting.push_back({branch, goes ? 0 : 1});
    b.CreateCall(retire, goes ? branch->getCondition() : b.CreateNot(branch->getCondition()));
  }
  for (auto [branch, away] : parting)
    leaveFirst(branch, away);
  return {};
}

const Pass mark_returns{"mark_returns", "note where threads have gone for good, and where barriers stand", run};

} // namespace opsight::lower::warp
