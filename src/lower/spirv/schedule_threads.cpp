// schedule_threads: CUDA lets threads return before a barrier, and lets warps go their own ways between shuffles; OpenCL
// lets neither. A kernel in which some barrier or warp operation is not provably reached by all threads of a block
// together is rewritten to proceed in rounds:
//
//   arrive:  every thread, also one that has returned, publishes where it stands (0: returned) and its word; barrier
//            it works out whether the operation it stands at may happen: a warp operation when all living lanes of its
//            mask stand at the same one, a block barrier when every living thread stands at one; barrier
//   resume:  threads whose operation happened run on alone to their next operation or to the end; the others wait
//
// The rounds end when all have returned, or when nobody can go on: then some wait for lanes of their mask that never come,
// which CUDA leaves undefined, and the first of them says where (report_unmet.h). So every barrier of the result is reached by all threads, whatever the kernel
// does, and exited lanes take no part. What it costs is told in the manifest's notes. Kernels whose operations are all
// reached together stay as they are. Leaves promotable stack variables.
#include "lower/analyses.h"
#include "lower/kernel.h"
#include "lower/spirv/block_uniformity.h"
#include "lower/spirv/builtins.h"
#include "lower/spirv/report_unmet.h"
#include "lower/spirv/warp_operations.h"
#include <fmt/format.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Scalar/Reg2Mem.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/FixIrreducible.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <map>

namespace opsight::lower::spirv {

using llvm::BasicBlock, llvm::Value;

namespace {
// A place where threads wait for each other. A thread that stands there publishes its number, counted from 1.
struct Stop {
  llvm::CallInst *call;
  std::optional<WarpOperation> warp; // else a block barrier
  BasicBlock *before = nullptr, *after = nullptr;

  bool votes() const { return !warp && call->arg_size() > 1; }
  bool wantsNoes() const { return call->getCalledFunction()->getName().contains("red.and"); }
};

class Scheduler {
public:
  /// `message` is the kernel's message buffer; null where no warp operation can wait in vain.
  Scheduler(Context &context, llvm::Argument *message)
      : context(context), kernel(*context.kernel), message(message), b(kernel.getContext()) {}
  void run();

private:
  void findStops();
  void createState();
  void cutAt(Stop &stop, unsigned number);
  void sendReturnsTo(BasicBlock *arrive);
  void publish();
  void decide();
  void finishWarpStops(Value *members);
  void closeRound(BasicBlock *resume, Value *living);
  void reportWaiting(Value *stuck, llvm::Instruction *end);
  void fillResume(BasicBlock *resume, BasicBlock *arrive);
  Value *standsAt(llvm::function_ref<bool(const Stop &)> which);
  llvm::AllocaInst *createVariable(llvm::Type *type, llvm::StringRef name);
  Value *load(llvm::AllocaInst *variable) { return b.CreateLoad(variable->getAllocatedType(), variable); }
  Value *loadFlag(llvm::GlobalVariable *flags) {
    return b.CreateAlignedLoad(b.getInt32Ty(), wordAddress(b, flags, now), llvm::Align(4), /*isVolatile=*/true);
  }
  void storeWord(llvm::GlobalVariable *words, Value *index, Value *value) {
    b.CreateAlignedStore(value, wordAddress(b, words, index), llvm::Align(4), /*isVolatile=*/true);
  }

  Context &context;
  llvm::Function &kernel;
  llvm::Argument *message;
  llvm::IRBuilder<> b;
  llvm::SmallVector<Stop> stops;
  bool hasWarpStops = false, hasVotes = false;
  // Private to the thread: where it stands, what its operation needs and gives, whether it goes on, the round modulo 3.
  llvm::AllocaInst *place, *word, *mask, *source, *result, *goes, *round;
  // Shared: places and words by thread; by round, whether any thread lives, any waits for its warp, any goes on, and the
  // votes.
  llvm::GlobalVariable *places = nullptr, *words = nullptr, *alive, *atWarp, *moved, *votes;
  WarpView view;
  Value *thread = nullptr, *now = nullptr, *at = nullptr; // of the round
};
} // namespace

// Flags are kept for three rounds, so that clearing the next one's races with nobody; the fourth word takes the stores of
// threads that have nothing to say, which spares a branch.
static constexpr unsigned rounds = 3, nobody = 3;

void Scheduler::findStops() {
  for (llvm::Instruction &instruction : llvm::instructions(kernel)) {
    auto warp = asWarpOperation(instruction);
    if (!warp && !isBlockBarrier(instruction))
      continue;
    stops.push_back({llvm::cast<llvm::CallInst>(&instruction), warp});
    hasWarpStops |= warp.has_value();
    hasVotes |= stops.back().votes();
  }
}

llvm::AllocaInst *Scheduler::createVariable(llvm::Type *type, llvm::StringRef name) {
  auto *variable = b.CreateAlloca(type, nullptr, name);
  b.CreateStore(llvm::Constant::getNullValue(type), variable);
  return variable;
}

void Scheduler::createState() {
  BasicBlock &entry = kernel.getEntryBlock();
  llvm::SplitBlock(&entry, &*entry.getFirstNonPHIOrDbgOrAlloca());
  b.SetInsertPoint(entry.getTerminator());
  place = createVariable(b.getInt32Ty(), "place"), word = createVariable(b.getInt32Ty(), "word");
  mask = createVariable(b.getInt32Ty(), "mask"), source = createVariable(b.getInt32Ty(), "source");
  result = createVariable(b.getInt32Ty(), "result"), round = createVariable(b.getInt32Ty(), "round");
  goes = createVariable(b.getInt1Ty(), "goes");
  auto *perThread = llvm::ArrayType::get(b.getInt32Ty(), llvm::alignTo(context.target.block.count(), 32));
  if (hasWarpStops) {
    places = createShared(context, perThread, "opsight.places");
    words = createShared(context, perThread, "opsight.words");
    context.manifest.requiredBlock = context.target.block;
  }
  view = createWarpView(b);
  thread = b.CreateAdd(view.base, view.lane);
  for (llvm::GlobalVariable **flags : {&alive, &atWarp, &moved, &votes}) {
    *flags = createShared(context, llvm::ArrayType::get(b.getInt32Ty(), rounds + 1), "opsight.flags");
    for (unsigned i = 0; i < rounds; ++i)
      storeWord(*flags, b.getInt32(i), b.getInt32(0));
  }
  callBlockBarrier(b);
}

// Before the stop the thread says what it stands at; behind it, it takes the result.
void Scheduler::cutAt(Stop &stop, unsigned number) {
  b.SetInsertPoint(stop.call);
  b.CreateStore(b.getInt32(number), place);
  Value *zero = b.getInt32(0), *said = zero;
  if (stop.warp) {
    said = publishedValue(b, *stop.warp);
    b.CreateStore(stop.warp->mask ? stop.warp->mask : zero, mask);
    if (stop.warp->isShuffle())
      b.CreateStore(sourceLane(b, *stop.warp, view.lane), source);
  } else if (stop.votes()) {
    Value *vote = stop.call->getArgOperand(1);
    said = b.CreateZExt(stop.wantsNoes() ? b.CreateNot(vote) : vote, b.getInt32Ty());
  }
  b.CreateStore(said, word);
  stop.before = stop.call->getParent();
  stop.after = llvm::SplitBlock(stop.before, stop.call);
  b.SetInsertPoint(stop.call);
  Value *given = load(result);
  if (stop.warp)
    given = asResult(b, *stop.warp, given);
  else if (stop.call->getType()->isIntegerTy(1))
    given = stop.wantsNoes() ? b.CreateICmpEQ(given, zero) : b.CreateICmpNE(given, zero);
  if (!stop.call->getType()->isVoidTy())
    stop.call->replaceAllUsesWith(given);
}

void Scheduler::sendReturnsTo(BasicBlock *arrive) {
  for (BasicBlock &block : kernel) {
    llvm::Instruction *end = block.getTerminator();
    if (!end || (!llvm::isa<llvm::ReturnInst>(end) && !llvm::isa<llvm::UnreachableInst>(end)))
      continue;
    b.SetInsertPoint(end);
    b.CreateStore(b.getInt32(0), place);
    b.CreateBr(arrive);
    end->eraseFromParent();
  }
}

// Whether the thread stands at one of the stops that `which` picks.
Value *Scheduler::standsAt(llvm::function_ref<bool(const Stop &)> which) {
  Value *stands = b.getFalse();
  for (auto [index, stop] : llvm::enumerate(stops))
    if (which(stop))
      stands = b.CreateOr(stands, b.CreateICmpEQ(at, b.getInt32(unsigned(index) + 1)));
  return stands;
}

void Scheduler::publish() {
  now = load(round), at = load(place);
  Value *zero = b.getInt32(0), *one = b.getInt32(1), *dump = b.getInt32(nobody);
  Value *next = b.CreateURem(b.CreateAdd(now, one), b.getInt32(rounds));
  b.CreateStore(next, round);
  for (llvm::GlobalVariable *flags : {alive, atWarp, moved, votes})
    storeWord(flags, next, zero);
  if (hasWarpStops) {
    storeWord(places, thread, at);
    storeWord(words, thread, load(word));
    Value *waits = standsAt([](const Stop &stop) { return stop.warp.has_value(); });
    storeWord(atWarp, b.CreateSelect(waits, now, dump), one);
  }
  storeWord(alive, b.CreateSelect(b.CreateICmpNE(at, zero), now, dump), one);
  if (hasVotes) {
    Value *voter = standsAt([](const Stop &stop) { return stop.votes(); });
    b.CreateAtomicRMW(llvm::AtomicRMWInst::Add, wordAddress(b, votes, now), b.CreateSelect(voter, load(word), zero),
                      llvm::Align(4), llvm::AtomicOrdering::Monotonic,
                      b.getContext().getOrInsertSyncScopeID("workgroup"));
  }
  callBlockBarrier(b);
}

// A block barrier opens once nobody waits for a warp: then every living thread stands at a barrier.
void Scheduler::decide() {
  Value *zero = b.getInt32(0);
  Value *atBarrier = standsAt([](const Stop &stop) { return !stop.warp; });
  b.CreateStore(loadFlag(votes), result);
  if (!hasWarpStops) {
    b.CreateStore(atBarrier, goes);
    return;
  }
  Value *opens = b.CreateAnd(atBarrier, b.CreateICmpEQ(loadFlag(atWarp), zero));
  Value *living = zero, *together = zero;
  for (unsigned lane = 0; lane < 32; ++lane) {
    Value *address = wordAddress(b, places, b.CreateAdd(view.base, b.getInt32(lane)));
    Value *there = b.CreateAlignedLoad(b.getInt32Ty(), address, llvm::Align(4));
    auto bit = [&](Value *condition) { return b.CreateShl(b.CreateZExt(condition, b.getInt32Ty()), lane); };
    living = b.CreateOr(living, bit(b.CreateICmpNE(there, zero)));
    together = b.CreateOr(together, bit(b.CreateICmpEQ(there, at)));
  }
  living = b.CreateAnd(living, view.present), together = b.CreateAnd(together, view.present);
  Value *members = b.CreateAnd(load(mask), living);
  Value *complete = b.CreateICmpEQ(b.CreateAnd(members, b.CreateNot(together)), zero);
  Value *asks = standsAt([](const Stop &stop) { return stop.warp && stop.warp->kind == WarpKind::ActiveMask; });
  Value *atWarpStop = standsAt([](const Stop &stop) { return stop.warp.has_value(); });
  Value *ready = b.CreateAnd(atWarpStop, complete); // __activemask() names no lanes to wait for: always ready
  Value *goesOn = b.CreateOr(opens, ready);
  b.CreateStore(goesOn, goes);
  storeWord(moved, b.CreateSelect(goesOn, now, b.getInt32(nobody)), b.getInt32(1));
  finishWarpStops(b.CreateSelect(asks, together, members));
}

// Each kind of operation that the kernel uses is worked out in one block, whichever stops it serves.
void Scheduler::finishWarpStops(Value *members) {
  BasicBlock *join = BasicBlock::Create(b.getContext(), "finished", &kernel);
  auto *choice = b.CreateSwitch(at, join);
  std::map<WarpKind, BasicBlock *> blocks;
  auto read = [&](unsigned lane) { return wordOfLane(b, words, view, lane); };
  for (auto [index, stop] : llvm::enumerate(stops)) {
    if (!stop.warp || stop.warp->kind == WarpKind::Sync)
      continue;
    WarpKind kind = stop.warp->isShuffle() ? WarpKind::ShuffleIndex : stop.warp->kind;
    BasicBlock *&block = blocks[kind];
    if (!block) {
      block = BasicBlock::Create(b.getContext(), "finish", &kernel, join);
      b.SetInsertPoint(block);
      Value *value = kind == WarpKind::ShuffleIndex
                         ? b.CreateAlignedLoad(b.getInt32Ty(), wordAddress(b, words, b.CreateAdd(view.base, load(source))),
                                               llvm::Align(4))
                         : combineLanes(b, kind, read, members, load(word));
      b.CreateStore(value, result);
      b.CreateBr(join);
    }
    choice->addCase(b.getInt32(unsigned(index) + 1), block);
  }
  b.SetInsertPoint(join);
}

void Scheduler::closeRound(BasicBlock *resume, Value *living) {
  BasicBlock *over = BasicBlock::Create(b.getContext(), "over", &kernel);
  callBlockBarrier(b); // nobody publishes anew before all have read
  Value *zero = b.getInt32(0), *ends = b.CreateICmpEQ(living, zero), *stuck = b.getFalse();
  if (hasWarpStops) { // without, every barrier opens
    stuck = b.CreateICmpEQ(loadFlag(moved), zero);
    ends = b.CreateOr(ends, stuck);
  }
  b.CreateCondBr(ends, over, resume);
  b.SetInsertPoint(over);
  llvm::Instruction *end = b.CreateRetVoid();
  if (hasWarpStops)
    reportWaiting(stuck, end);
}

void Scheduler::reportWaiting(Value *stuck, llvm::Instruction *end) {
  b.SetInsertPoint(end);
  Value *waits = standsAt([](const Stop &stop) { return stop.warp.has_value(); }), *where = b.getInt32(0);
  for (auto [index, stop] : llvm::enumerate(stops))
    if (stop.warp)
      where = b.CreateSelect(b.CreateICmpEQ(at, b.getInt32(unsigned(index) + 1)),
                             b.getInt32(placeId(context.manifest, placeOf(*stop.call))), where);
  reportUnmet(context.manifest, end, message, b.CreateAnd(stuck, waits), where);
}

// The one way into the kernel's code: from its beginning in the first round, from behind a stop in the later ones. Drivers
// then see one plain loop with barriers at its end.
void Scheduler::fillResume(BasicBlock *resume, BasicBlock *arrive) {
  b.SetInsertPoint(resume);
  Value *target = b.CreateSelect(load(goes), load(place), b.getInt32(0));
  auto *choice = b.CreateSwitch(target, arrive, unsigned(stops.size()) + 1);
  for (auto [index, stop] : llvm::enumerate(stops))
    choice->addCase(b.getInt32(unsigned(index) + 1), stop.after);
  llvm::Instruction *enter = kernel.getEntryBlock().getTerminator();
  unsigned beginning = unsigned(stops.size()) + 1;
  choice->addCase(b.getInt32(beginning), enter->getSuccessor(0));
  enter->setSuccessor(0, resume);
  b.SetInsertPoint(enter);
  b.CreateStore(b.getInt32(beginning), place);
  b.CreateStore(b.getTrue(), goes);
}

void Scheduler::run() {
  findStops();
  createState();
  for (auto [index, stop] : llvm::enumerate(stops))
    cutAt(stop, unsigned(index) + 1);
  // Values that live across a stop go through memory from here on; promotion finds their new places.
  llvm::FunctionPassManager demote;
  demote.addPass(llvm::RegToMemPass());
  runFunctionPasses(kernel, demote);
  BasicBlock *resume = BasicBlock::Create(b.getContext(), "resume", &kernel);
  BasicBlock *arrive = BasicBlock::Create(b.getContext(), "arrive", &kernel);
  for (Stop &stop : stops) {
    BasicBlock *end = stop.after->getSinglePredecessor(); // demotion may have split `before`
    end->getTerminator()->eraseFromParent();
    b.SetInsertPoint(end);
    b.CreateBr(arrive);
  }
  sendReturnsTo(arrive);
  b.SetInsertPoint(arrive);
  publish();
  Value *living = loadFlag(alive);
  decide();
  closeRound(resume, living);
  fillResume(resume, arrive);
  for (Stop &stop : stops)
    stop.call->eraseFromParent();
}

static Status run(Context &context) {
  std::string why = whyRounds(*context.kernel, /*barriersAlone=*/false);
  if (why.empty())
    return {};
  if (context.manifest.subgroupWidth)
    return internalError("a kernel with subgroup operations needs rounds, because " + why);
  context.manifest.notes.push_back(
      fmt::format("threads proceed in rounds, because {}; each costs two barriers", why));
  bool hasWarpOperations = !findWarpOperations(*context.kernel).empty();
  Scheduler(context, hasWarpOperations ? messageBuffer(context) : nullptr).run();
  llvm::FunctionPassManager promote;
  promote.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  promote.addPass(llvm::SimplifyCFGPass());
  // Resuming inside a loop gives it a second entry, which PoCL crashes on.
  promote.addPass(llvm::LowerSwitchPass());
  promote.addPass(llvm::FixIrreduciblePass());
  runFunctionPasses(*context.kernel, promote);
  return {};
}

const Pass schedule_threads{"schedule_threads", "let threads return early and warps diverge: proceed in rounds", run};

} // namespace opsight::lower::spirv
