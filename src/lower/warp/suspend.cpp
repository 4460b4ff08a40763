// suspend: a kernel that waits at barriers becomes a state machine. It keeps what it still needs in its warp's frame,
// notes where it stopped, and returns; called again, it jumps there. The result says why it returned:
//   0  the warp has finished,  p + 1  it waits at the barrier of places[p],  -(p + 1)  its threads did not meet there;
// where it waits for the whole grid, gridMark is added to p + 1, and the kernel gets gridAttribute.
//
// LLVM's coroutines would do the same and cost more: they keep a value where it is defined, in the midst of hot loops.
// Here values are stored at barriers alone, and not even there when the frame holds them still (see Stores).
//
// Needs calls of `barrierName` and `faultName`, allocas in the entry block only. Kernels without either stay as they
// are. Parameters added at the end: the warp's frame, whose dereferenceable bytes are its size, and what the block's
// votes at the last barrier add up to (see addToVote).
#include "lower/kernel.h"
#include "lower/warp/frame.h"
#include <fmt/format.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

namespace opsight::lower::warp {

using llvm::BasicBlock, llvm::CallInst, llvm::Instruction, llvm::IRBuilder, llvm::Value;

namespace {
struct Calls {
  llvm::SmallVector<CallInst *> barriers, faults;
};
} // namespace

static Calls findCalls(llvm::Function &kernel) {
  Calls calls;
  for (Instruction &instruction : llvm::instructions(kernel))
    if (auto *call = llvm::dyn_cast<CallInst>(&instruction); call && call->getCalledFunction()) {
      if (call->getCalledFunction()->getName() == barrierName)
        calls.barriers.push_back(call);
      else if (call->getCalledFunction()->getName() == faultName)
        calls.faults.push_back(call);
    }
  return calls;
}

static Value *slot(IRBuilder<> &b, Value *frame, uint64_t offset) {
  if (offset == 0)
    return frame;
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame, offset);
}

/// The frame and the sum of the last vote.
static std::pair<llvm::Argument *, llvm::Argument *> ownArguments(llvm::Function &kernel) {
  return {kernel.getArg(unsigned(kernel.arg_size() - 2)), kernel.getArg(unsigned(kernel.arg_size() - 1))};
}

static void addFrameParameters(Context &context) {
  llvm::SmallVector<llvm::Type *> types(context.kernel->getFunctionType()->params());
  llvm::Type *word = llvm::Type::getInt32Ty(context.module.getContext());
  types.append({llvm::PointerType::get(context.module.getContext(), 0), word});
  llvm::Function *old = replaceSignature(context, types, word);
  for (llvm::Argument &argument : old->args())
    argument.replaceAllUsesWith(context.kernel->getArg(argument.getArgNo()));
  old->eraseFromParent();
  context.kernel->removeFnAttr(llvm::Attribute::Memory); // it writes its frame now
  auto [frame, vote] = ownArguments(*context.kernel);
  frame->setName(frameName);
  vote->setName(voteName);
  for (BasicBlock &block : *context.kernel)
    if (auto *end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator()))
      llvm::ReplaceInstWithInst(end, llvm::ReturnInst::Create(block.getContext(), llvm::ConstantInt::get(word, 0)));
}

/// The place that `call` names; Context::places gets as long as that needs.
static Result<unsigned> placeOfCall(Context &context, CallInst &call) {
  auto *place = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
  if (!place || place->getValue().ugt(1u << 20))
    return internalError("a barrier without a constant place reached the pass suspend");
  auto number = unsigned(place->getZExtValue());
  context.places.resize(std::max<size_t>(context.places.size(), number + 1));
  return number;
}

/// The warp ends at `call`; nothing behind it is reached from here any more.
static void endAtFault(CallInst *call, unsigned place) {
  BasicBlock *block = call->getParent();
  llvm::changeToUnreachable(call);
  IRBuilder<> b(block->getTerminator());
  b.CreateRet(b.getInt32(-(place + 1)));
  block->getTerminator()->eraseFromParent();
}

/// What a warp adds to the block's sum, so that every kind of vote is an addition: how many said yes, and for "and" how
/// many warps said no.
static Value *addToVote(IRBuilder<> &b, BarrierKind kind, Value *contribution) {
  if (kind == BarrierKind::Count)
    return contribution;
  Value *zero = b.getInt32(0);
  bool isAnd = kind == BarrierKind::And;
  return b.CreateZExt(isAnd ? b.CreateICmpEQ(contribution, zero) : b.CreateICmpNE(contribution, zero), b.getInt32Ty());
}

static bool isVote(BarrierKind kind) { return kind != BarrierKind::Plain && kind != BarrierKind::Grid; }

static Value *resultOfVote(IRBuilder<> &b, BarrierKind kind, llvm::Argument *vote) {
  if (!isVote(kind))
    return b.getInt32(0);
  // An instruction that is not made anew later: the argument of the next call is another vote's.
  Value *sum = b.CreateFreeze(vote);
  if (kind == BarrierKind::Count)
    return sum;
  Value *zero = b.getInt32(0);
  return b.CreateZExt(kind == BarrierKind::And ? b.CreateICmpEQ(sum, zero) : b.CreateICmpNE(sum, zero), b.getInt32Ty());
}

/// Splits the block around `call`, which the vote's result replaces.
static Result<Suspension> splitAt(Context &context, CallInst *call) {
  auto place = placeOfCall(context, *call);
  if (!place)
    return std::unexpected(place.error());
  auto *kind = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(1));
  if (!kind || kind->getValue().ugt(unsigned(BarrierKind::Grid)))
    return internalError("a barrier without a constant kind reached the pass suspend");
  BasicBlock *leaves = call->getParent();
  llvm::SplitBlock(leaves, call->getNextNode());
  BasicBlock *resumes = llvm::SplitBlock(leaves, call);
  resumes->setName(fmt::format("resume.{}", *place));
  Suspension suspension{leaves, resumes, *place, BarrierKind(kind->getZExtValue()), {}, {}};
  auto [frame, vote] = ownArguments(*context.kernel);
  IRBuilder<> b(leaves->getTerminator());
  if (isVote(suspension.kind))
    b.CreateStore(addToVote(b, suspension.kind, call->getArgOperand(2)), slot(b, frame, contributionOffset));
  b.SetInsertPoint(call);
  call->replaceAllUsesWith(resultOfVote(b, suspension.kind, vote));
  call->eraseFromParent();
  return suspension;
}

static llvm::Align slotAlignment(uint64_t offset) { return llvm::commonAlignment(llvm::Align(frameAlignment), offset); }

static void store(IRBuilder<> &b, llvm::ArrayRef<Instruction *> values, const FrameLayout &layout, Value *frame) {
  for (Instruction *value : values) {
    uint64_t offset = layout.offsets.lookup(value);
    b.CreateAlignedStore(value, slot(b, frame, offset), slotAlignment(offset));
  }
}

/// Ends `suspension.leaves`: stores `values` and returns.
static void leave(const Suspension &suspension, unsigned state, const FrameLayout &layout,
                  llvm::ArrayRef<Instruction *> values, Value *frame) {
  Instruction *jump = suspension.leaves->getTerminator();
  IRBuilder<> b(jump);
  store(b, values, layout, frame);
  b.CreateStore(b.getInt32(state), slot(b, frame, stateOffset));
  b.CreateRet(b.getInt32((suspension.place + 1) | (suspension.kind == BarrierKind::Grid ? gridMark : 0)));
  jump->eraseFromParent();
}

static void storeOnEdges(const Stores &stores, const FrameLayout &layout, Value *frame) {
  for (auto &[edge, values] : stores.onEdges) {
    auto [from, to] = edge;
    BasicBlock *home = from;
    if (!from->getSingleSuccessor())
      home = llvm::SplitCriticalEdge(from->getTerminator(), llvm::GetSuccessorNumber(from, to),
                                     llvm::CriticalEdgeSplittingOptions().setMergeIdenticalEdges());
    IRBuilder<> b(home->getTerminator());
    store(b, values, layout, frame);
  }
}

using Definitions = llvm::MapVector<Instruction *, llvm::SmallVector<std::pair<BasicBlock *, Value *>>>;

/// At the start of `suspension.resumes`: what was kept is loaded, the rest made anew; both join `definitions`.
static void resume(const Suspension &suspension, const FrameLayout &layout, Value *frame, Definitions &definitions) {
  llvm::DenseMap<Value *, Value *> there;
  IRBuilder<> b(&*suspension.resumes->getFirstInsertionPt());
  for (Instruction *value : suspension.kept) {
    uint64_t offset = layout.offsets.lookup(value);
    Value *home = slot(b, frame, offset);
    there[value] = b.CreateAlignedLoad(value->getType(), home, slotAlignment(offset), value->getName());
  }
  for (Instruction *value : suspension.remade) {
    Instruction *copy = value->clone();
    for (llvm::Use &operand : copy->operands())
      if (Value *known = there.lookup(operand.get()))
        operand.set(known);
    there[value] = b.Insert(copy, value->getName());
  }
  for (auto list : {&suspension.kept, &suspension.remade})
    for (Instruction *value : *list)
      definitions[value].push_back({suspension.resumes, there[value]});
}

/// Every use of a value that now has several definitions sees the one that reached it.
static void repair(const Definitions &definitions) {
  for (auto &[value, others] : definitions) {
    llvm::SSAUpdater updater;
    updater.Initialize(value->getType(), value->getName());
    updater.AddAvailableValue(value->getParent(), value);
    for (auto [block, other] : others)
      updater.AddAvailableValue(block, other);
    for (llvm::Use &use : llvm::make_early_inc_range(value->uses())) {
      auto *user = llvm::cast<Instruction>(use.getUser());
      if (llvm::isa<llvm::PHINode>(user) || user->getParent() != value->getParent())
        updater.RewriteUse(use);
    }
  }
}

/// Allocas live in the frame, since what they hold outlives the call.
static llvm::SmallVector<llvm::AllocaInst *> findAllocas(llvm::Function &kernel) {
  llvm::SmallVector<llvm::AllocaInst *> allocas;
  for (Instruction &instruction : kernel.getEntryBlock())
    if (auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
      allocas.push_back(alloca);
  for (Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(kernel)))
    if (instruction.isLifetimeStartOrEnd()) // only of true allocas
      instruction.eraseFromParent();
  return allocas;
}

/// The new entry block: addresses in the frame, then a jump to where the warp stopped.
static void dispatch(llvm::Function &kernel, llvm::ArrayRef<Suspension> suspensions, const FrameLayout &layout,
                     llvm::ArrayRef<llvm::AllocaInst *> allocas, Value *frame) {
  BasicBlock *first = &kernel.getEntryBlock();
  first->setName("first");
  IRBuilder<> b(BasicBlock::Create(kernel.getContext(), "dispatch", &kernel, first));
  for (llvm::AllocaInst *alloca : allocas) {
    Value *home = slot(b, frame, layout.offsets.lookup(alloca));
    home->takeName(alloca);
    alloca->replaceAllUsesWith(home);
    alloca->eraseFromParent();
  }
  BasicBlock *never = BasicBlock::Create(kernel.getContext(), "never", &kernel);
  llvm::Value *state = b.CreateLoad(b.getInt32Ty(), slot(b, frame, stateOffset), "state");
  llvm::SwitchInst *jump = b.CreateSwitch(state, never, unsigned(suspensions.size() + 1));
  jump->addCase(b.getInt32(0), first);
  for (unsigned i = 0; i < suspensions.size(); ++i)
    jump->addCase(b.getInt32(i + 1), suspensions[i].resumes);
  b.SetInsertPoint(never);
  b.CreateUnreachable();
}

static void makeStateMachine(llvm::Function &kernel, llvm::MutableArrayRef<Suspension> suspensions) {
  llvm::Argument *frame = ownArguments(kernel).first;
  auto allocas = findAllocas(kernel);
  chooseKept(kernel, suspensions);
  FrameLayout layout = layOutFrame(suspensions, allocas);
  Stores stores = chooseStores(kernel, suspensions);
  storeOnEdges(stores, layout, frame);
  Definitions definitions;
  for (unsigned i = 0; i < suspensions.size(); ++i) {
    leave(suspensions[i], i + 1, layout, stores.atSuspension[i], frame);
    resume(suspensions[i], layout, frame, definitions);
  }
  dispatch(kernel, suspensions, layout, allocas, frame);
  repair(definitions);
  llvm::AttrBuilder attributes(kernel.getContext());
  attributes.addAlignmentAttr(llvm::Align(layout.alignment));
  attributes.addDereferenceableAttr(layout.bytes);
  attributes.addAttribute(llvm::Attribute::NoAlias);
  frame->addAttrs(attributes);
}

static Status run(Context &context) {
  Calls calls = findCalls(*context.kernel);
  if (calls.barriers.empty() && calls.faults.empty())
    return {};
  addFrameParameters(context);
  for (CallInst *fault : calls.faults) {
    auto place = placeOfCall(context, *fault);
    if (!place)
      return std::unexpected(place.error());
    endAtFault(fault, *place);
  }
  llvm::EliminateUnreachableBlocks(*context.kernel);
  llvm::SmallVector<Suspension> suspensions;
  for (CallInst *barrier : findCalls(*context.kernel).barriers) {
    auto suspension = splitAt(context, barrier);
    if (!suspension)
      return std::unexpected(suspension.error());
    if (suspension->kind == BarrierKind::Grid)
      context.kernel->addFnAttr(gridAttribute);
    suspensions.push_back(std::move(*suspension));
  }
  makeStateMachine(*context.kernel, suspensions);
  return {};
}

const Pass suspend{"suspend", "a kernel that waits at barriers becomes a state machine", run};

} // namespace opsight::lower::warp
