// vectorise: the thread's function becomes the warp's. Blocks keep their order; a branch on which threads part jumps over
// its region only when nobody enters it, and what the region made is blended with what the others had.
#include "lower/kernel.h"
#include "lower/warp/emitter.h"
#include "lower/warp/passes.h"
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>

namespace opsight::lower::warp {

using llvm::BasicBlock, llvm::Value;

namespace {
class Vectoriser {
public:
  Vectoriser(Context &context, llvm::Function &thread, llvm::Function &warp)
      : context(context), thread(thread), lanes(context.target.lanes), control(thread, analyses.functions),
        shapes(thread, lanes, analyses.functions.getResult<llvm::UniformityInfoAnalysis>(thread),
               analyses.functions.getResult<llvm::LoopAnalysis>(thread)),
        emitter(context, thread, warp, shapes, lanes) {}

  Status run() {
    if (Status sound = control.check(thread); !sound)
      return sound;
    llvm::ReversePostOrderTraversal<llvm::Function *> order(&thread);
    for (BasicBlock *block : order)
      first[block] = last[block] = emitter.newBlock(block->getName());
    for (BasicBlock *block : order)
      if (Status done = emitBlock(*block); !done)
        return done;
    for (BasicBlock *block : order)
      fillPhis(*block);
    return {};
  }

private:
  Status emitBlock(BasicBlock &block);
  void emitEntry();
  Value *maskFor(BasicBlock &block);
  void createPhis(BasicBlock &block);
  void emitTerminator(BasicBlock &block);
  void fillPhis(BasicBlock &block);
  Value *whatOthersHold(llvm::PHINode &phi, BasicBlock *from);
  Value *incoming(llvm::PHINode &phi, BasicBlock *from);
  Value *lastRound(llvm::Value *value, llvm::Loop &loop);

  Context &context;
  llvm::Function &thread;
  unsigned lanes;
  WarpAnalyses analyses;
  Control control;
  Shapes shapes;
  Emitter emitter;
  llvm::DenseMap<BasicBlock *, BasicBlock *> first, last;
  llvm::DenseMap<BasicBlock *, Value *> masks;       // null: all lanes
  llvm::DenseMap<BasicBlock *, Value *> regionMasks; // of the region that a block guards, or of who stays in its loop
};
} // namespace

// The last warp of a block may have fewer threads than lanes.
void Vectoriser::emitEntry() {
  llvm::IRBuilder<> &b = emitter.b;
  unsigned threads = unsigned(context.target.block.count());
  Value *existing = nullptr;
  if (threads % lanes) {
    Value *warp = emitter.warp.getArg(emitter.warp.arg_size() - 1);
    Value *left = b.CreateSub(b.getInt32(threads), b.CreateMul(warp, b.getInt32(lanes)));
    existing = b.CreateICmpULT(emitter.laneNumbers(), b.CreateVectorSplat(lanes, left), "existing");
  }
  masks[&thread.getEntryBlock()] = emitter.existing = existing;
  if (!context.places.empty()) {
    emitter.living = emitter.slot(b.getIntNTy(lanes));
    b.CreateStore(emitter.bits(existing), emitter.living);
  }
}

Value *Vectoriser::maskFor(BasicBlock &block) {
  MaskSource source = control.maskOf(&block);
  if (source.kind == MaskSource::SameAs)
    return masks[source.block];
  if (source.kind == MaskSource::Full)
    return nullptr;
  if (source.kind == MaskSource::Guarded)
    return regionMasks[source.block];
  llvm::PHINode *mask = emitter.b.CreatePHI(emitter.widened(emitter.b.getInt1Ty()), 2, "going.on");
  return mask;
}

void Vectoriser::createPhis(BasicBlock &block) {
  for (llvm::PHINode &phi : block.phis()) {
    bool varies = shapes.of(&phi).isVarying();
    llvm::Type *type = varies ? emitter.widened(phi.getType()) : phi.getType();
    emitter.define(&phi, emitter.b.CreatePHI(type, phi.getNumIncomingValues(), phi.getName()));
  }
}

Status Vectoriser::emitBlock(BasicBlock &block) {
  emitter.b.SetInsertPoint(first[&block]);
  for (llvm::PHINode &phi : block.phis())
    if (phi.getType()->isVectorTy() || phi.getType()->isAggregateType())
      if (shapes.of(&phi).isVarying())
        return unsupported("a vector or structure that depends on the way taken", "write it for single numbers", placeOf(phi));
  createPhis(block);
  if (block.isEntryBlock())
    emitEntry();
  else
    masks[&block] = maskFor(block);
  for (llvm::Instruction &instruction : block) {
    if (llvm::isa<llvm::PHINode>(instruction) || instruction.isTerminator())
      continue;
    if (Status done = emitter.emit(instruction, masks[&block]); !done)
      return done;
  }
  emitTerminator(block);
  return {};
}

void Vectoriser::emitTerminator(BasicBlock &block) {
  llvm::IRBuilder<> &b = emitter.b;
  last[&block] = b.GetInsertBlock();
  b.SetCurrentDebugLocation(block.getTerminator()->getDebugLoc());
  auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  if (!branch) {
    b.CreateRetVoid();
    return;
  }
  if (!branch->isConditional()) {
    b.CreateBr(first[branch->getSuccessor(0)]);
    return;
  }
  auto guard = control.guardOf(&block);
  llvm::Loop *ended = control.endedLoop(&block);
  if (!guard && !ended) {
    b.CreateCondBr(emitter.scalar(branch->getCondition()), first[branch->getSuccessor(0)], first[branch->getSuccessor(1)]);
    return;
  }
  BasicBlock *inside = guard ? guard->then : ended->getHeader();
  BasicBlock *outside = guard ? guard->join : ended->getExitBlock();
  Value *condition = emitter.vector(branch->getCondition());
  if (branch->getSuccessor(0) != inside)
    condition = b.CreateNot(condition);
  Value *region = regionMasks[&block] = emitter.both(masks[&block], condition);
  b.CreateCondBr(b.CreateIsNotNull(emitter.bits(region)), first[inside], first[outside]);
}

// What each thread had in its own last round, where some leave the loop before others: kept round by round.
Value *Vectoriser::lastRound(Value *value, llvm::Loop &loop) {
  llvm::IRBuilder<> &b = emitter.b;
  BasicBlock *latch = loop.getLoopLatch();
  b.SetInsertPoint(last[latch]->getTerminator());
  Value *now = emitter.vector(value);
  b.SetInsertPoint(&*first[loop.getHeader()]->begin());
  llvm::PHINode *kept = b.CreatePHI(now->getType(), 2, "kept");
  b.SetInsertPoint(last[latch]->getTerminator());
  Value *mask = masks[latch];
  Value *next = mask ? b.CreateSelect(mask, now, kept) : now;
  kept->addIncoming(llvm::PoisonValue::get(now->getType()), last[loop.getLoopPreheader()]);
  kept->addIncoming(next, last[latch]);
  return next;
}

// Where those who come from `from` need nothing in particular: what threads bring that have jumped over their region.
Value *Vectoriser::whatOthersHold(llvm::PHINode &phi, BasicBlock *from) {
  auto &dominators = analyses.functions.getResult<llvm::DominatorTreeAnalysis>(thread);
  for (Value *other : phi.incoming_values()) {
    auto *instruction = llvm::dyn_cast<llvm::Instruction>(other);
    if (!llvm::isa<llvm::UndefValue>(other) && (!instruction || dominators.dominates(instruction, from->getTerminator())))
      return other;
  }
  return llvm::PoisonValue::get(phi.getType());
}

// The value that comes over the edge from `from`. Where threads that went through a region meet those that did not, the
// region's end has to blend in what the others bring.
Value *Vectoriser::incoming(llvm::PHINode &phi, BasicBlock *from) {
  llvm::IRBuilder<> &b = emitter.b;
  b.SetInsertPoint(last[from]->getTerminator());
  Value *own = phi.getIncomingValueForBlock(from);
  if (!shapes.of(&phi).isVarying())
    return emitter.scalar(llvm::isa<llvm::UndefValue>(own) ? whatOthersHold(phi, from) : own);
  BasicBlock *block = phi.getParent();
  llvm::Loop *ended = control.endedLoop(from);
  bool leaves = ended && !ended->contains(block);
  Value *value = leaves && !llvm::isa<llvm::Constant>(own) ? lastRound(own, *ended) : emitter.vector(own);
  if (llvm::Loop *loop = control.loopWithHeader(block); loop && loop->contains(from))
    return value;
  BasicBlock *above = control.dominator(block);
  for (BasicBlock *walk = from; walk != above;) {
    walk = control.dominator(walk);
    auto guard = control.guardOf(walk);
    if (!guard || guard->join != block)
      continue;
    Value *others = emitter.vector(phi.getIncomingValueForBlock(walk));
    if (!llvm::isa<llvm::PoisonValue>(others) && !llvm::isa<llvm::UndefValue>(phi.getIncomingValueForBlock(walk)))
      value = b.CreateSelect(regionMasks[walk], value, others);
  }
  return value;
}

void Vectoriser::fillPhis(BasicBlock &block) {
  if (control.maskOf(&block).kind == MaskSource::LoopTop) {
    llvm::Loop *loop = control.loopWithHeader(&block);
    auto *mask = llvm::cast<llvm::PHINode>(masks[&block]);
    BasicBlock *preheader = loop->getLoopPreheader(), *latch = loop->getLoopLatch();
    mask->addIncoming(masks[preheader] ? masks[preheader] : emitter.fullMask(), last[preheader]);
    mask->addIncoming(regionMasks[latch], last[latch]);
  }
  for (llvm::PHINode &phi : block.phis()) {
    bool varies = shapes.of(&phi).isVarying();
    auto *made = llvm::cast<llvm::PHINode>(varies ? emitter.vector(&phi) : emitter.scalar(&phi));
    for (BasicBlock *from : llvm::predecessors(&block))
      made->addIncoming(incoming(phi, from), last[from]);
  }
}

static Status run(Context &context) {
  llvm::Function *thread = context.kernel;
  auto *warp = llvm::Function::Create(thread->getFunctionType(), thread->getLinkage(), "", &context.module);
  warp->copyAttributesFrom(thread);
  warp->setCallingConv(thread->getCallingConv());
  warp->setSubprogram(thread->getSubprogram());
  for (llvm::Argument &argument : thread->args())
    warp->getArg(argument.getArgNo())->setName(argument.getName());
  Vectoriser vectoriser(context, *thread, *warp);
  if (Status done = vectoriser.run(); !done)
    return done;
  thread->setSubprogram(nullptr);
  warp->takeName(thread);
  thread->eraseFromParent();
  context.kernel = warp;
  return {};
}

const Pass vectorise{"vectorise", "a warp's threads become the lanes of vectors", run};

} // namespace opsight::lower::warp
