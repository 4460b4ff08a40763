// all_active: `if (i >= n) return;` and `for (i = thread; i < n; i += stride)` would mask everything in a kernel for the
// sake of its last few threads. The guarded region, and the loop, get a second version that runs while all threads of the
// warp are there, and needs no masks. The branch that chooses asks `opsight.full(condition)`: whether the condition holds
// in every lane. Runs before `structure`, on what is not already under a parting branch.
#include "lower/warp/divergence.h"
#include "lower/warp/passes.h"
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

namespace opsight::lower::warp {

using llvm::BasicBlock, llvm::BranchInst, llvm::Loop, llvm::Value;
using Blocks = llvm::SmallSetVector<BasicBlock *, 16>;

constexpr const char *doneMark = "opsight.split";
constexpr size_t mostGrowth = 4;         // times the kernel's instructions
constexpr size_t smallestRegion = 12;    // instructions; below, masks cost less than a second version
constexpr size_t smallestLoop = 6;       // the same of a loop, whose masks cost every round
constexpr size_t largestKernel = 20'000; // instructions, all versions together

namespace {
struct Candidate {
  BranchInst *branch = nullptr;
  BasicBlock *join = nullptr; // of a guard; the region is all that is reached from `entry` before it
  BasicBlock *entry = nullptr;
  Loop *loop = nullptr; // else the loop that the branch ends
  Blocks region;
};

class Splitter {
public:
  explicit Splitter(llvm::Function &kernel) : kernel(kernel), limit(std::min(largestKernel, mostGrowth * kernel.getInstructionCount())) {}
  bool splitOne();

private:
  std::optional<Candidate> find();
  std::optional<Candidate> asGuard(BasicBlock &block) const;
  std::optional<Candidate> asLoop(BasicBlock &block) const;
  bool isUnderOthers(const BasicBlock &block) const;
  bool isWorth(const Blocks &region, size_t smallest) const;
  void splitGuard(const Candidate &candidate);
  void splitLoop(const Candidate &candidate);
  Value *askFull(llvm::IRBuilder<> &b, Value *condition);
  llvm::SmallVector<BasicBlock *> clone(const Blocks &region, llvm::ValueToValueMapTy &map);

  llvm::Function &kernel;
  size_t limit;
  WarpAnalyses analyses;
  llvm::UniformityInfo *uniformity = nullptr;
  llvm::LoopInfo *loops = nullptr;
  llvm::PostDominatorTree *after = nullptr;
};
} // namespace

static Blocks reachedBefore(BasicBlock *from, BasicBlock *join) {
  Blocks seen;
  llvm::SmallVector<BasicBlock *> open{from};
  while (!open.empty()) {
    BasicBlock *block = open.pop_back_val();
    if (block == join || !seen.insert(block))
      continue;
    open.append(llvm::succ_begin(block), llvm::succ_end(block));
  }
  return seen;
}

static BasicBlock *meetingOf(const BasicBlock &block, llvm::PostDominatorTree &after) {
  auto *node = after.getNode(&block);
  return node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
}

// Whether a branch that parts threads decides who comes to `block`, other than its own.
bool Splitter::isUnderOthers(const BasicBlock &block) const {
  for (BasicBlock &other : kernel) {
    if (&other == &block || !uniformity->hasDivergentTerminator(other))
      continue;
    BasicBlock *meeting = meetingOf(other, *after);
    for (BasicBlock *next : llvm::successors(&other))
      if (reachedBefore(next, meeting).contains(const_cast<BasicBlock *>(&block)))
        return true;
  }
  return false;
}

bool Splitter::isWorth(const Blocks &region, size_t smallest) const {
  size_t size = 0;
  bool touchesMemory = false;
  for (BasicBlock *block : region)
    for (llvm::Instruction &instruction : *block) {
      ++size;
      touchesMemory |= instruction.mayReadOrWriteMemory();
    }
  return touchesMemory && size >= smallest && kernel.getInstructionCount() + size <= limit;
}

std::optional<Candidate> Splitter::asGuard(BasicBlock &block) const {
  auto *branch = llvm::cast<BranchInst>(block.getTerminator());
  BasicBlock *join = meetingOf(block, *after);
  if (!join)
    return std::nullopt;
  std::optional<Candidate> best;
  for (unsigned side : {0u, 1u}) {
    BasicBlock *entry = branch->getSuccessor(side);
    if (entry == join)
      continue;
    Candidate candidate{branch, join, entry, nullptr, reachedBefore(entry, join)};
    bool ownsAll = !candidate.region.contains(&block) && llvm::all_of(candidate.region, [&](BasicBlock *inside) {
      return llvm::all_of(llvm::predecessors(inside), [&](BasicBlock *from) {
        return candidate.region.contains(from) || (from == &block && inside == entry);
      });
    });
    if (ownsAll && isWorth(candidate.region, smallestRegion) && (!best || candidate.region.size() > best->region.size()))
      best = candidate;
  }
  return best;
}

std::optional<Candidate> Splitter::asLoop(BasicBlock &block) const {
  Loop *loop = loops->getLoopFor(&block);
  if (!loop || loop->getLoopLatch() != &block || loop->getExitingBlock() != &block || !loop->getLoopPreheader())
    return std::nullopt;
  Candidate candidate{llvm::cast<BranchInst>(block.getTerminator()), nullptr, nullptr, loop, {}};
  candidate.region.insert(loop->block_begin(), loop->block_end());
  return isWorth(candidate.region, smallestLoop) ? std::optional(candidate) : std::nullopt;
}

std::optional<Candidate> Splitter::find() {
  for (BasicBlock &block : kernel) {
    auto *branch = llvm::dyn_cast<BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional() || branch->getMetadata(doneMark) || !uniformity->hasDivergentTerminator(block))
      continue;
    std::optional<Candidate> candidate = asLoop(block);
    if (!candidate)
      candidate = asGuard(block);
    if (candidate && !isUnderOthers(block))
      return candidate;
  }
  return std::nullopt;
}

Value *Splitter::askFull(llvm::IRBuilder<> &b, Value *condition) {
  llvm::FunctionCallee full = kernel.getParent()->getOrInsertFunction(fullName, b.getInt1Ty(), b.getInt1Ty());
  auto *callee = llvm::cast<llvm::Function>(full.getCallee());
  callee->setConvergent();
  callee->setDoesNotThrow();
  return b.CreateCall(full, condition);
}

llvm::SmallVector<BasicBlock *> Splitter::clone(const Blocks &region, llvm::ValueToValueMapTy &map) {
  llvm::SmallVector<BasicBlock *> made;
  for (BasicBlock *block : region) {
    BasicBlock *copy = llvm::CloneBasicBlock(block, map, ".full", &kernel);
    map[block] = copy;
    made.push_back(copy);
  }
  llvm::remapInstructionsInBlocks(made, map);
  return made;
}

static Value *mapped(llvm::ValueToValueMapTy &map, Value *value) {
  auto found = map.find(value);
  return found == map.end() ? value : static_cast<Value *>(found->second);
}

// Edges of the copy that leave it bring its values to where the region's own edges bring theirs.
static void feedPhis(BasicBlock &to, BasicBlock *from, llvm::ValueToValueMapTy &map, BasicBlock *copy) {
  for (llvm::PHINode &phi : to.phis())
    phi.addIncoming(mapped(map, phi.getIncomingValueForBlock(from)), copy);
}

void Splitter::splitGuard(const Candidate &candidate) {
  BranchInst *branch = candidate.branch;
  BasicBlock *some = llvm::SplitBlock(branch->getParent(), branch);
  BasicBlock *before = some->getSinglePredecessor();
  llvm::ValueToValueMapTy map;
  clone(candidate.region, map);
  auto *entry = llvm::cast<BasicBlock>(map[candidate.entry]);
  for (llvm::PHINode &phi : entry->phis()) {
    int at = phi.getBasicBlockIndex(some);
    if (at >= 0)
      phi.setIncomingBlock(unsigned(at), before);
  }
  for (BasicBlock *block : candidate.region)
    for (BasicBlock *next : llvm::successors(block))
      if (!candidate.region.contains(next))
        feedPhis(*next, block, map, llvm::cast<BasicBlock>(map[block]));
  llvm::IRBuilder<> b(before->getTerminator());
  Value *condition = branch->getCondition();
  if (branch->getSuccessor(0) != candidate.entry)
    condition = b.CreateNot(condition);
  b.CreateCondBr(askFull(b, condition), entry, some);
  before->getTerminator()->eraseFromParent();
}

void Splitter::splitLoop(const Candidate &candidate) {
  Loop &loop = *candidate.loop;
  BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch(), *preheader = loop.getLoopPreheader();
  BasicBlock *exit = loop.getExitBlock();
  llvm::ValueToValueMapTy map;
  clone(candidate.region, map);
  auto *fullHeader = llvm::cast<BasicBlock>(map[header]), *fullLatch = llvm::cast<BasicBlock>(map[latch]);
  llvm::LLVMContext &context = kernel.getContext();
  BasicBlock *start = BasicBlock::Create(context, "all.here", &kernel, header);
  BasicBlock *rest = BasicBlock::Create(context, "some.left", &kernel, header);
  BasicBlock *entry = BasicBlock::Create(context, "some.here", &kernel, header);
  BranchInst::Create(fullHeader, start);
  BranchInst::Create(header, entry);
  for (llvm::PHINode &phi : fullHeader->phis())
    phi.setIncomingBlock(unsigned(phi.getBasicBlockIndex(preheader)), start);
  for (llvm::PHINode &phi : header->phis()) {
    llvm::PHINode *merged = llvm::PHINode::Create(phi.getType(), 2, "", entry->begin());
    merged->addIncoming(phi.getIncomingValueForBlock(preheader), preheader);
    merged->addIncoming(mapped(map, phi.getIncomingValueForBlock(latch)), rest);
    unsigned at = unsigned(phi.getBasicBlockIndex(preheader));
    phi.setIncomingBlock(at, entry);
    phi.setIncomingValue(at, merged);
  }
  feedPhis(*exit, latch, map, rest);

  llvm::IRBuilder<> b(preheader->getTerminator());
  b.CreateCondBr(askFull(b, b.getTrue()), start, entry);
  preheader->getTerminator()->eraseFromParent();
  auto *end = llvm::cast<BranchInst>(fullLatch->getTerminator());
  b.SetInsertPoint(end);
  Value *goesOn = end->getCondition();
  if (end->getSuccessor(0) != fullHeader)
    goesOn = b.CreateNot(goesOn);
  b.CreateCondBr(askFull(b, goesOn), fullHeader, rest);
  end->eraseFromParent();
  b.SetInsertPoint(rest);
  BranchInst *parting = b.CreateCondBr(goesOn, entry, exit);
  parting->setMetadata(doneMark, llvm::MDNode::get(context, {}));
}

bool Splitter::splitOne() {
  analyses.functions.clear();
  llvm::FunctionPassManager canonical;
  canonical.addPass(llvm::LoopSimplifyPass());
  canonical.addPass(llvm::LCSSAPass());
  canonical.run(kernel, analyses.functions);
  analyses.functions.clear();
  uniformity = &analyses.functions.getResult<llvm::UniformityInfoAnalysis>(kernel);
  loops = &analyses.functions.getResult<llvm::LoopAnalysis>(kernel);
  after = &analyses.functions.getResult<llvm::PostDominatorTreeAnalysis>(kernel);
  std::optional<Candidate> candidate = find();
  if (!candidate)
    return false;
  candidate->branch->setMetadata(doneMark, llvm::MDNode::get(kernel.getContext(), {}));
  candidate->loop ? splitLoop(*candidate) : splitGuard(*candidate);
  return true;
}

static Status run(Context &context) {
  Splitter splitter(*context.kernel);
  while (splitter.splitOne()) {
    // Each version may hold more to split.
  }
  return {};
}

const Pass all_active{"all_active", "regions and loops get a version for when every thread is there", run};

} // namespace opsight::lower::warp
