// delay_deinterleave: neighbouring elements of each thread (`tile[k][4 * column + j]`, j = 0 … 3) come from memory as
// whole vectors, of which permutations make one a j, and go back by as many. What only does the same to each j, with
// numbers that are the same for all lanes, might as well be done on the vectors as they lie in memory: `vectorise` has
// parted them, here the parting is put off until somebody asks for a part, and between a load and a store nobody may.
#include "lower/warp/bundles.h"
#include "lower/warp/divergence.h"
#include "lower/warp/passes.h"
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>

namespace opsight::lower::warp {

using llvm::BasicBlock, llvm::Instruction, llvm::IRBuilder, llvm::PHINode, llvm::Use, llvm::Value;

namespace {
class Delayer {
public:
  explicit Delayer(Bundles &bundles) : bundles_(bundles), raw_(bundles.all.size()) {}
  void run();

private:
  const Vectors &rawOf(int number);
  void create(int number);
  void fillPhis(int number);
  void giveParts(int number);
  Vectors partsIn(int number, BasicBlock *block);
  void rejoin(const Rejoined &one);
  void removeParts();

  Bundles &bundles_;
  std::vector<Vectors> raw_; // by the bundle's number
};
} // namespace

const Vectors &Delayer::rawOf(int number) {
  if (raw_[size_t(number)].empty())
    create(number);
  return raw_[size_t(number)];
}

/// The raw vectors of a bundle: the same operations. Operands are made before; phis get theirs in the end.
void Delayer::create(int number) {
  const Bundle &bundle = bundles_.all[size_t(number)];
  if (bundle.isLoaded()) {
    raw_[size_t(number)] = bundle.raw;
    return;
  }
  Vectors made;
  Instruction *first = bundle.member(0);
  if (auto *phi = llvm::dyn_cast<PHINode>(first)) {
    for (Value *member : bundle.members)
      made.push_back(
          PHINode::Create(phi->getType(), phi->getNumIncomingValues(), member->getName() + ".raw", phi->getIterator()));
    raw_[size_t(number)] = std::move(made);
    return;
  }
  for (int operand : bundle.operands)
    if (operand >= 0)
      rawOf(operand);
  Instruction *behind = bundle.last()->getNextNode();
  for (size_t i = 0; i < bundle.members.size(); ++i) {
    Instruction *clone = bundle.member(i)->clone();
    for (unsigned slot = 0; slot < bundle.operands.size(); ++slot)
      if (int operand = bundle.operands[slot]; operand >= 0)
        clone->setOperand(slot, rawOf(operand)[i]);
    clone->insertBefore(behind->getIterator());
    made.push_back(clone);
  }
  raw_[size_t(number)] = std::move(made);
}

void Delayer::fillPhis(int number) {
  const Bundle &bundle = bundles_.all[size_t(number)];
  auto *first = llvm::dyn_cast<PHINode>(bundle.members[0]);
  for (unsigned i = 0; first && i < first->getNumIncomingValues(); ++i)
    for (size_t part = 0; part < bundle.members.size(); ++part) {
      int operand = bundle.operands[i];
      Value *incoming = operand < 0 ? first->getIncomingValue(i) : rawOf(operand)[part];
      llvm::cast<PHINode>(rawOf(number)[part])->addIncoming(incoming, first->getIncomingBlock(i));
    }
}

/// Those who ask for parts get them in their own block, which may be one that is hardly ever run.
Vectors Delayer::partsIn(int number, BasicBlock *block) {
  const Bundle &bundle = bundles_.all[size_t(number)];
  auto *last = llvm::cast<Instruction>(rawOf(number).back());
  if (bundle.isLoaded())
    last = bundle.last();
  bool isHome = last->getParent() == block && !llvm::isa<PHINode>(last);
  IRBuilder<> b(isHome ? last->getNextNode() : &*block->getFirstInsertionPt());
  return deinterleave(b, rawOf(number));
}

void Delayer::giveParts(int number) {
  const Bundle &bundle = bundles_.all[size_t(number)];
  llvm::DenseMap<BasicBlock *, Vectors> known;
  for (Use *use : bundles_.escapes(bundle)) {
    auto *user = llvm::cast<Instruction>(use->getUser());
    auto *phi = llvm::dyn_cast<PHINode>(user);
    BasicBlock *block = phi ? phi->getIncomingBlock(*use) : user->getParent();
    Vectors &parts = known[block];
    if (parts.empty())
      parts = partsIn(number, block);
    use->set(parts[size_t(llvm::find(bundle.members, use->get()) - bundle.members.begin())]);
  }
}

void Delayer::rejoin(const Rejoined &one) {
  IRBuilder<> b(one.shuffle);
  one.shuffle->replaceAllUsesWith(llvm::concatenateVectors(b, rawOf(one.bundle)));
}

/// What nobody asks for any more; loops' sums ask for themselves.
void Delayer::removeParts() {
  for (const Bundle &bundle : bundles_.all)
    if (bundle.isValid && !bundle.isLoaded())
      for (Value *member : bundle.members) {
        member->replaceAllUsesWith(llvm::PoisonValue::get(member->getType()));
        llvm::cast<Instruction>(member)->eraseFromParent();
      }
}

static void removeUnusedPermutations(llvm::Function &kernel) {
  for (BasicBlock &block : kernel)
    for (Instruction &instruction : llvm::make_early_inc_range(llvm::reverse(block)))
      if (llvm::isa<llvm::ShuffleVectorInst>(instruction) && instruction.use_empty())
        instruction.eraseFromParent();
}

void Delayer::run() {
  auto each = [&](auto work) {
    for (int number = 0; number < int(bundles_.all.size()); ++number)
      if (bundles_.all[size_t(number)].isValid)
        work(number);
  };
  each([&](int number) { rawOf(number); });
  each([&](int number) { fillPhis(number); });
  each([&](int number) {
    if (!bundles_.all[size_t(number)].isLoaded()) // their parts are there
      giveParts(number);
  });
  for (const Rejoined &one : bundles_.rejoined)
    rejoin(one);
  removeParts();
}

static Status run(Context &context) {
  if (context.target.watched != Watched::No)
    return {};
  WarpAnalyses analyses;
  Bundles bundles(*context.kernel, context.target.lanes,
                  analyses.functions.getResult<llvm::LoopAnalysis>(*context.kernel));
  if (llvm::none_of(bundles.all, [](const Bundle &bundle) { return bundle.isValid; }))
    return {};
  Delayer(bundles).run();
  removeUnusedPermutations(*context.kernel);
  return {};
}

const Pass delay_deinterleave{"delay_deinterleave",
                              "work on neighbouring elements as they lie in memory where that is the same", run};

} // namespace opsight::lower::warp
