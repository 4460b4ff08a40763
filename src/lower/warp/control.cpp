// See control.h.
#include "lower/warp/control.h"
#include <fmt/format.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

namespace opsight::lower::warp {

using llvm::BasicBlock, llvm::Loop;

Control::Control(llvm::Function &kernel, llvm::FunctionAnalysisManager &analyses)
    : uniformity(analyses.getResult<llvm::UniformityInfoAnalysis>(kernel)),
      loops(analyses.getResult<llvm::LoopAnalysis>(kernel)),
      before(analyses.getResult<llvm::DominatorTreeAnalysis>(kernel)),
      after(analyses.getResult<llvm::PostDominatorTreeAnalysis>(kernel)) {
  for (Loop *loop : loops.getLoopsInPreorder()) {
    llvm::SmallVector<BasicBlock *> exiting;
    loop->getExitingBlocks(exiting);
    if (llvm::any_of(exiting, [&](BasicBlock *block) { return isDivergentBranch(block); }))
      divergentLoops.insert(loop);
  }
}

bool Control::isDivergentBranch(const BasicBlock *block) const {
  return uniformity.hasDivergentTerminator(*const_cast<BasicBlock *>(block));
}

llvm::Loop *Control::endedLoop(const BasicBlock *block) const {
  Loop *loop = loops.getLoopFor(block);
  bool ends = loop && isDivergentBranch(block) && loop->getLoopLatch() == block && loop->getExitingBlock() == block;
  return ends ? loop : nullptr;
}

std::optional<Guard> Control::guardOf(const BasicBlock *block) const {
  auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  if (!branch || !branch->isConditional() || !isDivergentBranch(block) || endedLoop(block))
    return std::nullopt;
  for (unsigned side : {0u, 1u}) {
    BasicBlock *then = branch->getSuccessor(side), *join = branch->getSuccessor(1 - side);
    if (then != join && then->getSinglePredecessor() == block && after.dominates(join, then) && before.dominates(block, join))
      return Guard{then, join, side == 0};
  }
  return std::nullopt;
}

Status Control::check(llvm::Function &kernel) const {
  for (BasicBlock &block : kernel)
    if (isDivergentBranch(&block) && !guardOf(&block) && !endedLoop(&block))
      return internalError(fmt::format("the branch of the block {} differs between threads and has no structure",
                                       block.getName().str()));
  for (const Loop *loop : divergentLoops)
    if (!loop->getLoopPreheader() || !loop->getExitingBlock() || loop->getExitingBlock() != loop->getLoopLatch())
      return internalError(fmt::format("the loop at {} has more than one end", loop->getHeader()->getName().str()));
  return {};
}

Loop *Control::loopWithHeader(const BasicBlock *block) const {
  Loop *loop = loops.getLoopFor(block);
  return loop && loop->getHeader() == block ? loop : nullptr;
}

BasicBlock *Control::dominator(const BasicBlock *block) const {
  auto *node = before.getNode(block);
  return node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
}

MaskSource Control::maskOf(BasicBlock *block) const {
  BasicBlock *above = dominator(block);
  if (!above)
    return {MaskSource::Entry, nullptr};
  if (BasicBlock *from = block->getSinglePredecessor()) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(from->getTerminator());
    if (branch && branch->isConditional() && branch->getSuccessor(0) == block && branch->getSuccessor(1) != block &&
        isFullQuestion(*branch->getCondition()))
      return {MaskSource::Full, nullptr};
  }
  if (Loop *loop = loopWithHeader(block); loop && isDivergentLoop(loop))
    return {MaskSource::LoopTop, loop->getLoopPreheader()};
  // Out of a loop all who came to it go on, not only those of its last round.
  Loop *left = nullptr;
  for (Loop *loop = loops.getLoopFor(above); loop && !loop->contains(block); loop = loop->getParentLoop())
    left = loop;
  if (left)
    return {MaskSource::SameAs, left->getLoopPreheader() ? left->getLoopPreheader() : dominator(left->getHeader())};
  if (auto guard = guardOf(above); guard && guard->then == block)
    return {MaskSource::Guarded, above};
  return {MaskSource::SameAs, above};
}

} // namespace opsight::lower::warp
