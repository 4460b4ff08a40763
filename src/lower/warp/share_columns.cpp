// share_columns: where all vectors of a block read the same columns of a shared array in a loop
// (`tile[threadIdx.x % 16][d]`, d = 0, 1, …, which join_rows has made four elements of a thread's row at a time), each
// would transpose them anew. Instead they share the work: behind the barrier before the loop each vector reads the rows
// for some of its rounds and lays them down as columns in memory of the block's own; behind one more barrier, all read
// whole vectors there.
//
// The same values: the address depends on nothing but the lane, the round, and what is common to the block and known at
// the barrier; nobody writes there between that barrier and the next. The same threads: all come to the barrier, and
// the loop's rounds are counted. Reading early: only what lies in the block's static memory. Runs behind join_rows, and
// before mark_returns numbers the barriers.
#include "lower/kernel.h"
#include "lower/native/passes.h"
#include "lower/spirv/warp_operations.h"
#include "lower/warp/emitter.h"
#include "lower/warp/intervals.h"
#include "lower/warp/passes.h"
#include "lower/warp/patterns.h"
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

namespace opsight::lower::warp {

using llvm::BasicBlock, llvm::Instruction, llvm::IRBuilder, llvm::LoadInst, llvm::Loop, llvm::SCEV, llvm::Value;

constexpr unsigned fewestVectors = 4; // that save more than a barrier costs
constexpr unsigned mostRounds = 256;
constexpr uint64_t mostBytes = 64 << 10; // of a block's memory for columns
constexpr unsigned rowLength = 4;

namespace {
struct Rows {
  LoadInst *load;
  const SCEV *start; // the address in the loop's first round
  int64_t step;      // bytes from round to round
  llvm::Type *type = load->getType();
  llvm::Align align = load->getAlign();
};
/// A loop whose rounds read rows, the same in all vectors.
struct Walk {
  Loop *loop;
  unsigned rounds;
  Instruction *barrier; // the last before the loop
  llvm::SmallVector<Rows, 4> rows;
};

/// What holds until the kernel changes.
class Finder {
public:
  explicit Finder(Context &context)
      : context_(context), kernel_(*context.kernel), lanes_(context.target.lanes),
        loops_(blocks_.functions.getResult<llvm::LoopAnalysis>(kernel_)),
        evolution_(blocks_.functions.getResult<llvm::ScalarEvolutionAnalysis>(kernel_)),
        uniformity_(blocks_.functions.getResult<llvm::UniformityInfoAnalysis>(kernel_)),
        order_(blocks_.functions.getResult<llvm::DominatorTreeAnalysis>(kernel_)),
        after_(blocks_.functions.getResult<llvm::PostDominatorTreeAnalysis>(kernel_)),
        shapes_(kernel_, lanes_, warps_.functions.getResult<llvm::UniformityInfoAnalysis>(kernel_),
                warps_.functions.getResult<llvm::LoopAnalysis>(kernel_)),
        footprints_(kernel_, vectorsOf(context), evolution_), intervals_(kernel_, footprints_) {}
  std::optional<Walk> find();
  llvm::ScalarEvolution &evolution() { return evolution_; }

private:
  std::optional<Walk> walkOf(Loop &loop);
  std::optional<Rows> rowsOf(LoadInst &load, const Walk &walk);
  bool isCommonButForTheLane(const SCEV *start, Instruction *place) const;
  bool isInStaticMemory(const Footprint &footprint) const;
  bool isWritten(const Footprint &read, const Walk &walk);

  Context &context_;
  llvm::Function &kernel_;
  unsigned lanes_;
  BlockAnalyses blocks_;
  WarpAnalyses warps_;
  llvm::LoopInfo &loops_;
  llvm::ScalarEvolution &evolution_;
  llvm::UniformityInfo &uniformity_;
  llvm::DominatorTree &order_;
  llvm::PostDominatorTree &after_;
  Shapes shapes_;
  Footprints footprints_;
  Intervals intervals_;
};
} // namespace

/// Rows of the threads' own, which transposing is for.
static bool isRow(const LoadInst &load, const Shapes &shapes) {
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(load.getType());
  if (!type || type->getNumElements() != rowLength || type->getScalarSizeInBits() != 32 || !load.isSimple())
    return false;
  uint64_t bytes = type->getScalarSizeInBits() / 8;
  Shape address = shapes.of(load.getPointerOperand());
  return address.isVarying() || (address.isPattern() && !address.isConsecutive(rowLength * bytes) &&
                                 runsOf(address.offsets, bytes).size() > mostRuns);
}

/// Whether `start` is the same in all vectors, and can be computed at `place`.
bool Finder::isCommonButForTheLane(const SCEV *start, Instruction *place) const {
  return !llvm::SCEVExprContains(start, [&](const SCEV *part) {
    auto *leaf = llvm::dyn_cast<llvm::SCEVUnknown>(part);
    if (!leaf)
      return llvm::isa<llvm::SCEVAddRecExpr>(part) || llvm::isa<llvm::SCEVUDivExpr>(part);
    bool differs = !isLane(*leaf->getValue()) && uniformity_.isDivergent(leaf->getValue());
    return differs || !order_.dominates(leaf->getValue(), place);
  });
}

bool Finder::isInStaticMemory(const Footprint &footprint) const {
  auto inside = [&](Footprint::Bytes bytes) {
    return bytes.first >= 0 && uint64_t(bytes.end) <= context_.manifest.staticSharedBytes;
  };
  return footprint.place == Footprint::Shared && footprint.root->getName() == staticName &&
         llvm::all_of(footprint.byWarp, inside);
}

/// Whether any vector may change what `read` reads between the walk's barrier and the next.
bool Finder::isWritten(const Footprint &read, const Walk &walk) {
  auto meets = [](Footprint::Bytes a, Footprint::Bytes b) { return a.first < b.end && b.first < a.end; };
  return llvm::any_of(intervals_.reach(walk.barrier, false).accesses, [&](Instruction *access) {
    auto &other = intervals_.footprint(access);
    if (!other || !other->writes || other->place == Footprint::Outside)
      return false;
    if (other->place == Footprint::Anywhere)
      return true;
    return other->root == read.root && llvm::any_of(other->byWarp, [&](Footprint::Bytes written) {
             return llvm::any_of(read.byWarp, [&](Footprint::Bytes bytes) { return meets(written, bytes); });
           });
  });
}

std::optional<Rows> Finder::rowsOf(LoadInst &load, const Walk &walk) {
  if (!isRow(load, shapes_))
    return std::nullopt;
  auto *address = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(load.getPointerOperand()));
  if (!address || address->getLoop() != walk.loop || !address->isAffine())
    return std::nullopt;
  auto *step = llvm::dyn_cast<llvm::SCEVConstant>(address->getStepRecurrence(evolution_));
  if (!step || !isCommonButForTheLane(address->getStart(), walk.barrier))
    return std::nullopt;
  auto &footprint = intervals_.footprint(&load);
  if (!footprint || !isInStaticMemory(*footprint) || isWritten(*footprint, walk))
    return std::nullopt;
  return Rows{&load, address->getStart(), step->getAPInt().getSExtValue()};
}

static bool hasBarrier(const Loop &loop) {
  return llvm::any_of(loop.blocks(), [](const BasicBlock *block) { return llvm::any_of(*block, ordersAll); });
}

std::optional<Walk> Finder::walkOf(Loop &loop) {
  Walk walk{&loop, evolution_.getSmallConstantTripCount(&loop), nullptr, {}};
  if (!loop.isInnermost() || !loop.getLoopPreheader() || !loop.getLoopLatch() || walk.rounds < 2 ||
      walk.rounds > mostRounds)
    return std::nullopt;
  auto before = intervals_.reach(loop.getLoopPreheader()->getTerminator(), true);
  if (before.toTheEnd || before.barriers.size() != 1)
    return std::nullopt;
  walk.barrier = *before.barriers.begin();
  bool isPlain = spirv::isBlockBarrier(*walk.barrier) && walk.barrier->getType()->isVoidTy();
  if (!isPlain || !order_.dominates(walk.barrier, loop.getHeader()) || hasBarrier(loop) ||
      !comesTogether(walk.barrier->getParent(), after_, uniformity_))
    return std::nullopt;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      if (auto *load = llvm::dyn_cast<LoadInst>(&instruction))
        if (auto rows = rowsOf(*load, walk))
          walk.rows.push_back(*rows);
  uint64_t bytes = uint64_t(walk.rounds) * walk.rows.size() * rowLength * sizeof(float) * lanes_;
  bool fits = context_.scratchBytes + bytes <= mostBytes;
  return walk.rows.empty() || !fits ? std::nullopt : std::optional(walk);
}

std::optional<Walk> Finder::find() {
  for (Loop *loop : loops_.getLoopsInPreorder())
    if (auto walk = walkOf(*loop))
      return walk;
  return std::nullopt;
}

namespace {
/// Where the columns lie: [round][row][element][lane], of 32 bits each.
class Columns {
public:
  Columns(Context &context, const Walk &walk) : lanes_(context.target.lanes), rows_(unsigned(walk.rows.size())) {
    uint64_t first = llvm::alignTo(context.manifest.staticSharedBytes, scratchAlignment) + context.scratchBytes;
    context.scratchBytes +=
        llvm::alignTo(uint64_t(walk.rounds) * rows_ * rowLength * lanes_ * sizeof(float), scratchAlignment);
    IRBuilder<> b(&*context.kernel->getEntryBlock().getFirstInsertionPt());
    auto *memory =
        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), findArgument(*context.kernel, staticName), first, "columns");
    Value *lane = b.CreateZExt(createLane(b, lanes_), b.getInt64Ty());
    own_ = b.CreateInBoundsGEP(b.getInt32Ty(), b.CreateAddrSpaceCast(memory, b.getPtrTy(native::sharedSpace)), lane);
  }
  /// Of the lane's own elements in `round`, an i64.
  Value *inRound(IRBuilder<> &b, Value *round) const {
    return b.CreateInBoundsGEP(b.getInt32Ty(), own_,
                               b.CreateMul(round, b.getInt64(rows_ * rowLength * lanes_), "", true, true));
  }
  Value *element(IRBuilder<> &b, Value *inRound, size_t row, unsigned element) const {
    return b.CreateConstInBoundsGEP1_64(b.getInt32Ty(), inRound, (row * rowLength + element) * lanes_);
  }

private:
  unsigned lanes_, rows_;
  Value *own_;
};
} // namespace

static void layDownRound(IRBuilder<> &b, const Walk &walk, const Columns &columns, llvm::ArrayRef<Value *> starts,
                         Value *round) {
  Value *home = columns.inRound(b, round);
  for (size_t row = 0; row < walk.rows.size(); ++row) {
    Value *from =
        b.CreateGEP(b.getInt8Ty(), starts[row], b.CreateMul(round, b.getInt64(uint64_t(walk.rows[row].step))));
    Value *read = b.CreateAlignedLoad(walk.rows[row].type, from, walk.rows[row].align);
    for (unsigned i = 0; i < rowLength; ++i)
      b.CreateAlignedStore(b.CreateExtractElement(read, i), columns.element(b, home, row, i), llvm::Align(4));
  }
}

/// Behind the barrier: a vector takes the rounds of its number, and every so many vectors' further one; then all meet.
static void layDown(Context &context, const Walk &walk, const Columns &columns, llvm::ScalarEvolution &evolution) {
  Instruction *behind = walk.barrier->getNextNode();
  llvm::SCEVExpander expander(evolution, "columns");
  llvm::SmallVector<Value *> starts;
  for (const Rows &rows : walk.rows)
    starts.push_back(expander.expandCodeFor(rows.start, rows.start->getType(), behind));
  BasicBlock *before = behind->getParent(), *rest = llvm::SplitBlock(before, behind);
  auto add = [&](const char *name) { return BasicBlock::Create(rest->getContext(), name, context.kernel, rest); };
  BasicBlock *more = add("rounds"), *body = add("lay.down"), *meet = add("laid.down");
  before->getTerminator()->setSuccessor(0, more);
  IRBuilder<> b(more);
  b.SetCurrentDebugLocation(walk.barrier->getDebugLoc());
  llvm::PHINode *round = b.CreatePHI(b.getInt64Ty(), 2, "round");
  b.CreateCondBr(b.CreateICmpULT(round, b.getInt64(walk.rounds)), body, meet);
  b.SetInsertPoint(body);
  layDownRound(b, walk, columns, starts, round);
  Value *next = b.CreateAdd(round, b.getInt64(vectorsOf(context)), "", true, true);
  b.CreateBr(more);
  b.SetInsertPoint(before->getTerminator());
  round->addIncoming(b.CreateZExt(findArgument(*context.kernel, warpName), b.getInt64Ty()), before);
  round->addIncoming(next, body);
  b.SetInsertPoint(meet);
  b.Insert(walk.barrier->clone());
  b.CreateBr(rest);
}

static void readColumns(const Walk &walk, const Columns &columns) {
  BasicBlock *header = walk.loop->getHeader(), *latch = walk.loop->getLoopLatch();
  IRBuilder<> b(header, header->begin());
  llvm::PHINode *round = b.CreatePHI(b.getInt64Ty(), 2, "round");
  b.SetInsertPoint(&*header->getFirstInsertionPt());
  Value *home = columns.inRound(b, round);
  Value *next = b.CreateAdd(round, b.getInt64(1), "", true, true);
  round->addIncoming(b.getInt64(0), walk.loop->getLoopPreheader());
  round->addIncoming(next, latch);
  for (size_t row = 0; row < walk.rows.size(); ++row) {
    LoadInst *load = walk.rows[row].load;
    b.SetInsertPoint(load);
    Value *whole = llvm::PoisonValue::get(load->getType());
    for (unsigned i = 0; i < rowLength; ++i)
      whole = b.CreateInsertElement(
          whole,
          b.CreateAlignedLoad(load->getType()->getScalarType(), columns.element(b, home, row, i), llvm::Align(4)), i);
    load->replaceAllUsesWith(whole);
    load->eraseFromParent();
  }
}

static Status run(Context &context) {
  unsigned vectors = vectorsOf(context);
  if (context.target.watched != Watched::No || vectors < fewestVectors ||
      context.target.block.count() % context.target.lanes)
    return {};
  for (;;) {
    Finder finder(context);
    auto walk = finder.find();
    if (!walk)
      return {};
    Columns columns(context, *walk);
    readColumns(*walk, columns);
    layDown(context, *walk, columns, finder.evolution());
  }
}

const Pass share_columns{"share_columns", "columns that all vectors of a block read are transposed once for all", run};

} // namespace opsight::lower::warp
