// separate_tails: what runs after a barrier that the kernel may pass by shares no code with the way that passes it by, and
// ends in a barrier of its own.
//
// Compilers of OpenCL C for processors turn the code between two barriers into loops over a block's threads. Debian's
// PoCL copies what a conditional barrier's way shares with others once for each edge that leads there. Where threads part
// before they join (`if (row < rows) store; return`), one place where all meet becomes two, and PoCL sends all threads the
// way that the first one takes. Given one copy for all edges, closed by a barrier where its threads meet again, it has
// nothing to copy. All threads take the same way past such a barrier (schedule_threads saw to that), so neither the copy
// nor the closing barrier changes anything for anyone.
//
// Values go through memory while blocks are copied, and are promoted again after.
#include "lower/analyses.h"
#include "lower/kernel.h"
#include "lower/spirv/block_uniformity.h"
#include "lower/spirv/warp_operations.h"
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Transforms/Scalar/Reg2Mem.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

namespace opsight::lower::spirv {

using llvm::BasicBlock;

static bool synchronises(BasicBlock &block) {
  return llvm::any_of(block, [](llvm::Instruction &instruction) {
    return isBlockBarrier(instruction) || asWarpOperation(instruction);
  });
}

// All that may run after `barrier`, short of the next round of a loop around it.
static llvm::SetVector<BasicBlock *> reachedFrom(BasicBlock *barrier, const llvm::DominatorTree &before) {
  llvm::SetVector<BasicBlock *> reached;
  reached.insert(barrier);
  for (unsigned i = 0; i < reached.size(); ++i)
    for (BasicBlock *next : llvm::successors(reached[i]))
      if (!before.dominates(next, reached[i]))
        reached.insert(next);
  return reached;
}

static void copyShared(llvm::ArrayRef<BasicBlock *> own, llvm::ArrayRef<BasicBlock *> shared) {
  llvm::ValueToValueMapTy values;
  llvm::SmallVector<BasicBlock *> copies;
  for (BasicBlock *block : shared) {
    BasicBlock *copy = llvm::CloneBasicBlock(block, values, ".after", block->getParent());
    values[block] = copy;
    copies.push_back(copy);
  }
  llvm::remapInstructionsInBlocks(copies, values);
  for (BasicBlock *block : own)
    for (auto [original, copy] : llvm::zip(shared, copies))
      block->getTerminator()->replaceSuccessorWith(original, copy);
}

// Copies what one barrier's way shares with others; false where none shares anything any more.
static bool separateOne(llvm::Function &kernel) {
  llvm::DominatorTree before(kernel);
  for (BasicBlock &block : kernel) {
    if (!synchronises(block))
      continue;
    llvm::SmallVector<BasicBlock *> own, shared;
    for (BasicBlock *reached : reachedFrom(&block, before))
      (before.dominates(&block, reached) ? own : shared).push_back(reached);
    if (shared.empty())
      continue;
    copyShared(own, shared);
    return true;
  }
  return false;
}

// The barrier that all threads passed last before `block`.
static BasicBlock *lastBarrier(BasicBlock *block, const llvm::DominatorTree &before) {
  for (llvm::DomTreeNode *node = before.getNode(block); node; node = node->getIDom())
    if (synchronises(*node->getBlock()))
      return node->getBlock();
  return nullptr;
}

namespace {
// Makes the blocks that close the ways behind barriers.
class Closer {
public:
  explicit Closer(Context &context) : context(context), kernel(*context.kernel) {}
  void run();

private:
  using Way = std::pair<BasicBlock *, BasicBlock *>; // the last barrier before it; the header it leads to, null for returns
  void findExits();
  BasicBlock *createClosing(BasicBlock *header);
  void keepApart(llvm::IRBuilder<> &builder);

  Context &context;
  llvm::Function &kernel;
  llvm::MapVector<Way, llvm::SmallVector<BasicBlock *>> exits;
  llvm::GlobalVariable *scratch = nullptr;
  unsigned closed = 0;
};
} // namespace

// The ways from behind barriers that may be passed by, to the end of the kernel or to the next round of a loop around them.
void Closer::findExits() {
  llvm::DominatorTree before(kernel);
  llvm::SmallPtrSet<BasicBlock *, 8> skippable;
  for (llvm::CallInst *call : findSkippable(kernel))
    skippable.insert(call->getParent());
  for (BasicBlock &block : kernel) {
    BasicBlock *last = lastBarrier(&block, before);
    if (!last || last == &block || !skippable.contains(last))
      continue;
    if (llvm::isa<llvm::ReturnInst>(block.getTerminator()))
      exits[{last, nullptr}].push_back(&block);
    for (BasicBlock *next : llvm::successors(&block))
      if (next != last && before.dominates(next, last))
        exits[{last, next}].push_back(&block);
  }
}

// PoCL's optimiser would move what two closing blocks have in common into the block they lead to, and leave them empty:
// a load that nobody else makes, of another type in each, stays.
void Closer::keepApart(llvm::IRBuilder<> &builder) {
  llvm::Type *scalars[] = {builder.getInt8Ty(), builder.getInt16Ty(), builder.getInt32Ty(), builder.getFloatTy()};
  constexpr unsigned shapes = 4; // 1, 2, 4 and 8 elements
  llvm::Type *type = scalars[closed % std::size(scalars)];
  if (unsigned shape = closed / std::size(scalars) % shapes)
    type = llvm::FixedVectorType::get(type, 1u << shape);
  if (!scratch)
    scratch = createShared(context, llvm::ArrayType::get(builder.getInt32Ty(), 1u << (shapes - 1)), "opsight.closing");
  builder.CreateLoad(type, scratch, /*isVolatile=*/true);
  ++closed;
}

BasicBlock *Closer::createClosing(BasicBlock *header) {
  BasicBlock *closing = BasicBlock::Create(kernel.getContext(), "closing", &kernel);
  llvm::IRBuilder<> builder(closing);
  builder.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {builder.getInt32(0)});
  if (exits.size() > 1)
    keepApart(builder);
  if (header)
    builder.CreateBr(header);
  else
    builder.CreateRetVoid();
  return closing;
}

void Closer::run() {
  findExits();
  for (auto &[way, blocks] : exits) {
    BasicBlock *header = way.second, *closing = createClosing(header);
    for (BasicBlock *block : blocks)
      if (header)
        block->getTerminator()->replaceSuccessorWith(header, closing);
      else
        llvm::ReplaceInstWithInst(block->getTerminator(), llvm::BranchInst::Create(closing));
  }
}

static Status run(Context &context) {
  llvm::Function &kernel = *context.kernel;
  if (findSkippable(kernel).empty())
    return {};
  llvm::FunctionPassManager demote, promote;
  demote.addPass(llvm::RegToMemPass());
  runFunctionPasses(kernel, demote);
  while (separateOne(kernel)) {
  }
  Closer(context).run();
  promote.addPass(llvm::PromotePass());
  runFunctionPasses(kernel, promote);
  return {};
}

const Pass separate_tails{"separate_tails", "copy what follows a barrier that may be passed by", run};

} // namespace opsight::lower::spirv
