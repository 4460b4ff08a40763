// See block_uniformity.h. LLVM's uniformity analysis, with NVPTX's sources of divergence, works out which branches differ
// between threads. It thinks in warps where this thinks in blocks: what a warp operation gives may differ from warp to
// warp, and what __syncthreads_or gives is the same for all, so for the analysis the first are tied to the thread's
// number and the second are cut from their operand. Nor does it know that a struct passed by value, though it lies in
// each thread's own memory, is the same for all: what is only read counts as a load from memory that all share.
#include "lower/spirv/block_uniformity.h"
#include "lower/analyses.h"
#include "lower/spirv/plain_calls.h"
#include "lower/spirv/warp_operations.h"
#include <fmt/format.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <mutex>

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
}

namespace opsight::lower::spirv {

static std::unique_ptr<llvm::TargetMachine> createNvptxMachine() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
  });
  std::string problem;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, problem);
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, "sm_80", "", llvm::TargetOptions{}, std::nullopt));
}

// Whether nothing but loads reaches `pointer`, whose loads are gathered.
static bool isOnlyRead(llvm::Value &pointer, llvm::SmallVectorImpl<llvm::LoadInst *> &loads) {
  return llvm::all_of(pointer.users(), [&](llvm::User *user) {
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      loads.push_back(load);
      return true;
    }
    bool leadsOn = llvm::isa<llvm::GetElementPtrInst>(user) || llvm::isa<llvm::AddrSpaceCastInst>(user);
    return leadsOn && isOnlyRead(*user, loads);
  });
}

MovedReads readStructsFromShared(llvm::Function &kernel) {
  MovedReads moved;
  auto *globalPointer = llvm::PointerType::get(kernel.getContext(), globalSpace);
  for (llvm::Argument &argument : kernel.args())
    if (llvm::SmallVector<llvm::LoadInst *> loads; argument.hasByValAttr() && isOnlyRead(argument, loads))
      for (llvm::LoadInst *load : loads) {
        auto *cast = new llvm::AddrSpaceCastInst(load->getPointerOperand(), globalPointer, "", load->getIterator());
        load->setOperand(0, cast);
        moved.push_back({load, cast});
      }
  return moved;
}

namespace {
// The changes for the analysis, undone when it ends.
class Disguise {
public:
  explicit Disguise(llvm::Function &kernel) {
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(kernel))) {
      if (auto operation = asWarpOperation(instruction))
        tieToThread(*operation->call);
      else if (isBlockBarrier(instruction) && instruction.getNumOperands() == 3) // number, predicate, callee
        cutPredicate(llvm::cast<llvm::CallInst>(instruction));
    }
    moved = readStructsFromShared(kernel);
  }
  ~Disguise() {
    for (auto [load, cast] : moved) {
      load->setOperand(0, cast->getOperand(0));
      cast->eraseFromParent();
    }
    for (llvm::Instruction *tied : ties) {
      tied->replaceAllUsesWith(tied->getOperand(1));
      tied->eraseFromParent();
    }
    for (llvm::Instruction *condition : conditions)
      condition->eraseFromParent();
    for (auto [call, predicate] : cuts)
      call->setArgOperand(1, predicate);
  }

private:
  void tieToThread(llvm::CallInst &call) {
    if (call.use_empty())
      return;
    llvm::IRBuilder<> builder(call.getNextNode());
    llvm::Value *thread = builder.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
    auto *condition = llvm::cast<llvm::Instruction>(builder.CreateICmpEQ(thread, builder.getInt32(0)));
    auto *tied = llvm::SelectInst::Create(condition, &call, &call, "", condition->getNextNode()->getIterator());
    call.replaceUsesWithIf(tied, [&](llvm::Use &use) { return use.getUser() != tied; });
    ties.push_back(tied);
    conditions.push_back(condition);
    conditions.push_back(llvm::cast<llvm::Instruction>(thread));
  }
  void cutPredicate(llvm::CallInst &call) {
    cuts.push_back({&call, call.getArgOperand(1)});
    call.setArgOperand(1, llvm::ConstantInt::getTrue(call.getContext()));
  }
  llvm::SmallVector<llvm::Instruction *> ties, conditions;
  MovedReads moved;
  llvm::SmallVector<std::pair<llvm::CallInst *, llvm::Value *>> cuts;
};
} // namespace

// Blocks whose execution a branch that differs between threads decides: all on the way from it to where its ways meet.
static llvm::SmallPtrSet<llvm::BasicBlock *, 16> findDecided(llvm::Function &kernel, llvm::UniformityInfo &uniformity,
                                                                   llvm::PostDominatorTree &after) {
  llvm::SmallPtrSet<llvm::BasicBlock *, 16> decided;
  for (llvm::BasicBlock &block : kernel) {
    if (!uniformity.hasDivergentTerminator(block))
      continue;
    llvm::DomTreeNode *node = after.getNode(&block);
    llvm::BasicBlock *meeting = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    llvm::SmallPtrSet<llvm::BasicBlock *, 16> seen;
    llvm::SmallVector<llvm::BasicBlock *> open(llvm::successors(&block));
    while (!open.empty()) {
      llvm::BasicBlock *next = open.pop_back_val();
      if (next == meeting || !seen.insert(next).second)
        continue;
      decided.insert(next);
      open.append(llvm::succ_begin(next), llvm::succ_end(next));
    }
  }
  return decided;
}

llvm::SmallVector<llvm::CallInst *> decidedByThreads(llvm::Function &kernel) {
  PlainCalls plain(kernel);
  auto machine = createNvptxMachine();
  Analyses analyses(machine.get());
  auto &uniformity = analyses.functions.getResult<llvm::UniformityInfoAnalysis>(kernel);
  auto &after = analyses.functions.getResult<llvm::PostDominatorTreeAnalysis>(kernel);
  llvm::SmallVector<llvm::CallInst *> calls;
  auto decided = findDecided(kernel, uniformity, after);
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (decided.contains(instruction.getParent()) && (isBlockBarrier(instruction) || asWarpOperation(instruction)))
      calls.push_back(llvm::cast<llvm::CallInst>(&instruction));
  return calls;
}

llvm::SmallVector<llvm::CallInst *> reachedByFew(llvm::Function &kernel) {
  Disguise disguise(kernel);
  return decidedByThreads(kernel);
}

// Whether each round of the loops around `block` comes by it, and each run of the kernel by the outermost of them.
static bool isAlwaysPassed(llvm::BasicBlock *block, const llvm::LoopInfo &loops, const llvm::DominatorTree &before,
                           const llvm::PostDominatorTree &after) {
  for (llvm::Loop *loop = loops.getLoopFor(block); loop; loop = loop->getParentLoop()) {
    llvm::SmallVector<llvm::BasicBlock *> latches;
    loop->getLoopLatches(latches);
    if (!llvm::all_of(latches, [&](llvm::BasicBlock *latch) { return before.dominates(block, latch); }))
      return false;
    block = loop->getHeader();
  }
  return after.dominates(block, &block->getParent()->getEntryBlock());
}

llvm::SmallVector<llvm::CallInst *> findSkippable(llvm::Function &kernel) {
  Analyses analyses;
  auto &loops = analyses.functions.getResult<llvm::LoopAnalysis>(kernel);
  auto &before = analyses.functions.getResult<llvm::DominatorTreeAnalysis>(kernel);
  auto &after = analyses.functions.getResult<llvm::PostDominatorTreeAnalysis>(kernel);
  llvm::SmallVector<llvm::CallInst *> skippable;
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if ((isBlockBarrier(instruction) || asWarpOperation(instruction)) &&
        !isAlwaysPassed(instruction.getParent(), loops, before, after))
      skippable.push_back(llvm::cast<llvm::CallInst>(&instruction));
  return skippable;
}

// Each skippable barrier doubles the code that PoCL makes of the kernel; beyond these few it never ends.
static constexpr unsigned mostSkippable = 3;

std::string whyRounds(llvm::Function &kernel, bool barriersAlone) {
  auto counts = [&](llvm::CallInst *call) { return !barriersAlone || isBlockBarrier(*call); };
  for (llvm::CallInst *call : reachedByFew(kernel))
    if (counts(call))
      return fmt::format("line {} is not provably reached by all threads of a block together", placeOf(*call).line);
  auto skippable = llvm::count_if(findSkippable(kernel), counts);
  return skippable > mostSkippable ? fmt::format("{} of its barriers stand in branches", skippable) : "";
}

} // namespace opsight::lower::spirv
