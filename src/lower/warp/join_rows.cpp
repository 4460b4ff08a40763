// join_rows: where each thread walks along a row of its own (`tile[threadIdx.x][d]`, d = 0, 1, …), the warp's threads
// together access columns, and every element would be gathered or scattered. Four neighbouring accesses of a thread
// become one of four elements, which a warp does with a load or store a thread and a transposition in registers, or,
// where the threads' rows lie side by side, with whole vectors. A loop that takes a step along the rows at a time takes
// four; if it also writes, a second version of it does, for when what it writes is not what it reads elsewhere.
#include "lower/warp/divergence.h"
#include "lower/warp/passes.h"
#include "lower/warp/patterns.h"
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopVersioning.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

namespace opsight::lower::warp {

using llvm::BasicBlock, llvm::Instruction, llvm::Loop, llvm::ScalarEvolution;

constexpr unsigned rowLength = 4; // elements accessed at once: what transposes in one 128-bit part of a vector
constexpr uint64_t elementBytes = 4;
constexpr size_t largestBody = 200;          // instructions of a loop that is worth four times its size
constexpr size_t mostAccessesTogether = 256; // each is compared with the first of every row
constexpr size_t mostBetween = 64;           // accesses that one of a row may have to change places with

namespace {
struct Found {
  int64_t distance; // bytes behind the row's first-found element
  Instruction *access;
};

/// Loads, or stores, of one row in one block, and the other accesses since its first.
struct Row {
  const llvm::SCEV *first;
  llvm::SmallVector<Found, 4> found;
  llvm::SmallVector<Instruction *, 8> between;
};

/// What holds until the function changes.
struct Known {
  explicit Known(llvm::Function &kernel, unsigned lanes)
      : loops(analyses.functions.getResult<llvm::LoopAnalysis>(kernel)),
        evolution(analyses.functions.getResult<llvm::ScalarEvolutionAnalysis>(kernel)),
        aliases(analyses.functions.getResult<llvm::AAManager>(kernel)),
        shapes(kernel, lanes, analyses.functions.getResult<llvm::UniformityInfoAnalysis>(kernel), loops) {}
  WarpAnalyses analyses;
  llvm::LoopInfo &loops;
  ScalarEvolution &evolution;
  llvm::AAResults &aliases;
  Shapes shapes;
};

class Joiner {
public:
  explicit Joiner(Known &known) : known_(known) {}
  void visit(BasicBlock &block);
  /// Once all blocks were visited: rows are compared by what their accesses are.
  void joinAll();

private:
  void put(Instruction &access);
  bool mayJoin(const Row &row, Instruction &access) const;
  bool mayChangePlaces(Instruction &a, Instruction &b) const;
  void close();

  Known &known_;
  llvm::SmallVector<Row> open_, complete_;
  size_t count_ = 0;
};
} // namespace

// One that would be gathered or scattered: neither a few pieces nor one element for all.
static bool isScattered(Instruction &instruction, const Shapes &shapes) {
  if (!llvm::isa<llvm::LoadInst>(instruction) && !llvm::isa<llvm::StoreInst>(instruction))
    return false;
  llvm::Type *type = llvm::getLoadStoreType(&instruction);
  if (instruction.isVolatile() || instruction.isAtomic() || (!type->isFloatTy() && !type->isIntegerTy(32)))
    return false;
  Shape address = shapes.of(llvm::getLoadStorePointerOperand(&instruction));
  return address.isVarying() || (address.isPattern() && runsOf(address.offsets, elementBytes).size() > mostRuns);
}

bool Joiner::mayChangePlaces(Instruction &a, Instruction &b) const {
  if (!a.mayWriteToMemory() && !b.mayWriteToMemory())
    return true;
  return known_.aliases.isNoAlias(llvm::MemoryLocation::get(&a), llvm::MemoryLocation::get(&b));
}

// Loads move up to the first of their row, stores down to the last.
bool Joiner::mayJoin(const Row &row, Instruction &access) const {
  if (row.between.size() > mostBetween)
    return false;
  if (llvm::isa<llvm::LoadInst>(access))
    return llvm::all_of(row.between, [&](Instruction *other) { return mayChangePlaces(access, *other); });
  return llvm::all_of(row.found, [&](const Found &earlier) {
    return llvm::all_of(row.between, [&](Instruction *other) {
      return other->comesBefore(earlier.access) || mayChangePlaces(*earlier.access, *other);
    });
  });
}

void Joiner::put(Instruction &access) {
  const llvm::SCEV *address = known_.evolution.getSCEV(llvm::getLoadStorePointerOperand(&access));
  for (Row &row : open_) {
    Instruction &first = *row.found[0].access;
    if (row.first->getType() != address->getType() || first.getOpcode() != access.getOpcode() ||
        llvm::getLoadStoreType(&first) != llvm::getLoadStoreType(&access))
      continue;
    auto *distance = llvm::dyn_cast<llvm::SCEVConstant>(known_.evolution.getMinusSCEV(address, row.first));
    if (!distance || !mayJoin(row, access))
      continue;
    row.found.push_back({distance->getAPInt().getSExtValue(), &access});
    return;
  }
  open_.push_back({address, {Found{0, &access}}, {}});
}

void Joiner::close() {
  for (Row &row : open_)
    complete_.push_back(std::move(row));
  open_.clear();
  count_ = 0;
}

// Between two accesses of a row nobody may leave.
void Joiner::visit(BasicBlock &block) {
  for (Instruction &instruction : block) {
    bool isAccess = llvm::isa<llvm::LoadInst>(instruction) || llvm::isa<llvm::StoreInst>(instruction);
    bool isOrdinary = isAccess && !instruction.isVolatile() && !instruction.isAtomic();
    if (isOrdinary) {
      if (count_ < mostAccessesTogether && isScattered(instruction, known_.shapes) && ++count_)
        put(instruction);
      for (Row &row : open_)
        if (row.found.back().access != &instruction)
          row.between.push_back(&instruction);
    } else if (instruction.mayReadOrWriteMemory() || !llvm::isGuaranteedToTransferExecutionToSuccessor(&instruction)) {
      close();
    }
  }
  close();
}

// Four that follow each other in memory: loads at the place of the one that comes first in the block, stores at that of
// the last.
static void joinFour(llvm::ArrayRef<Found> four) {
  bool isLoad = llvm::isa<llvm::LoadInst>(four[0].access);
  const Found *place = four.begin();
  for (const Found &found : four)
    if (found.access->comesBefore(place->access) == isLoad)
      place = &found;
  llvm::IRBuilder<> b(place->access);
  llvm::Value *address = llvm::getLoadStorePointerOperand(place->access);
  if (int64_t back = four[0].distance - place->distance)
    address = b.CreateGEP(b.getInt8Ty(), address, b.getInt64(uint64_t(back)));
  auto *type = llvm::FixedVectorType::get(llvm::getLoadStoreType(four[0].access), rowLength);
  llvm::Align align = llvm::getLoadStoreAlignment(four[0].access);
  llvm::Value *all =
      isLoad ? static_cast<llvm::Value *>(b.CreateAlignedLoad(type, address, align)) : llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < rowLength; ++i)
    if (isLoad)
      four[i].access->replaceAllUsesWith(b.CreateExtractElement(all, uint64_t(i)));
    else
      all = b.CreateInsertElement(all, four[i].access->getOperand(0), uint64_t(i));
  if (!isLoad)
    b.CreateAlignedStore(all, address, align);
  for (const Found &found : four) // last: the builder stands before one of them
    found.access->eraseFromParent();
}

static void joinRow(llvm::SmallVectorImpl<Found> &row) {
  llvm::sort(row, [](const Found &a, const Found &b) {
    return a.distance != b.distance ? a.distance < b.distance : a.access->comesBefore(b.access);
  });
  for (size_t begin = 0; begin + rowLength <= row.size();) {
    bool follows = true;
    for (unsigned i = 1; i < rowLength; ++i)
      follows &= row[begin + i].distance == row[begin].distance + int64_t(i * elementBytes);
    if (follows)
      joinFour(llvm::ArrayRef(row).slice(begin, rowLength));
    begin += follows ? rowLength : 1;
  }
}

void Joiner::joinAll() {
  for (Row &row : complete_)
    joinRow(row.found);
}

// A loop of one block in which every thread goes along its row element by element.
static bool walksAlongRows(Loop &loop, Known &known) {
  BasicBlock *body = loop.getHeader();
  if (loop.getNumBlocks() != 1 || body->size() > largestBody)
    return false;
  bool walks = false;
  for (Instruction &instruction : *body) {
    bool isStore = llvm::isa<llvm::StoreInst>(instruction);
    if (llvm::isa<llvm::CallBase>(instruction) != llvm::isa<llvm::IntrinsicInst>(instruction) ||
        (instruction.mayWriteToMemory() && !isStore))
      return false;
    if (!isScattered(instruction, known.shapes)) {
      if (isStore)
        return false;
      continue;
    }
    auto *step =
        llvm::dyn_cast<llvm::SCEVAddRecExpr>(known.evolution.getSCEV(llvm::getLoadStorePointerOperand(&instruction)));
    auto *bytes = step && step->getLoop() == &loop && step->isAffine()
                      ? llvm::dyn_cast<llvm::SCEVConstant>(step->getStepRecurrence(known.evolution))
                      : nullptr;
    bool along = bytes && bytes->getAPInt() == elementBytes;
    if (isStore && !along)
      return false;
    walks |= along;
  }
  return walks;
}

static bool writes(const Loop &loop) {
  return llvm::any_of(*loop.getHeader(), [](const Instruction &instruction) { return instruction.mayWriteToMemory(); });
}

static bool isFreeOfAliases(const llvm::LoopAccessInfo &accesses) {
  return accesses.canVectorizeMemory() && !accesses.getRuntimePointerChecking()->Need;
}

// A loop that writes comes twice: one version for when no store may meet another access, which that version's accesses
// then say of each other.
static void partAliases(llvm::Function &kernel, unsigned lanes) {
  Known known(kernel, lanes);
  auto &functions = known.analyses.functions;
  llvm::SmallVector<Loop *> chosen;
  for (Loop *loop : known.loops.getLoopsInPreorder())
    if (loop->isLoopSimplifyForm() && loop->getExitBlock() && walksAlongRows(*loop, known) && writes(*loop))
      chosen.push_back(loop);
  for (Loop *loop : chosen) {
    auto &accesses = functions.getResult<llvm::LoopAccessAnalysis>(kernel).getInfo(*loop);
    const llvm::RuntimePointerChecking *checking = accesses.getRuntimePointerChecking();
    if (!accesses.canVectorizeMemory() || !checking->Need)
      continue;
    llvm::LoopVersioning versions(accesses, checking->getChecks(), loop, &known.loops,
                                  &functions.getResult<llvm::DominatorTreeAnalysis>(kernel), &known.evolution);
    versions.versionLoop();
    versions.annotateLoopWithNoAlias();
    functions.getResult<llvm::LoopAccessAnalysis>(kernel).clear();
  }
}

static void unrollLoops(llvm::Function &kernel, unsigned lanes) {
  Known known(kernel, lanes);
  auto &functions = known.analyses.functions;
  llvm::SmallVector<Loop *> chosen;
  auto &accesses = functions.getResult<llvm::LoopAccessAnalysis>(kernel);
  for (Loop *loop : known.loops.getLoopsInPreorder())
    if (loop->isLoopSimplifyForm() && walksAlongRows(*loop, known) &&
        (!writes(*loop) || isFreeOfAliases(accesses.getInfo(*loop))))
      chosen.push_back(loop);
  llvm::UnrollLoopOptions options{};
  options.Count = rowLength;
  options.Runtime = true;
  options.SCEVExpansionBudget = 8;
  for (Loop *loop : chosen)
    llvm::UnrollLoop(
        loop, options, &known.loops, &known.evolution, &functions.getResult<llvm::DominatorTreeAnalysis>(kernel),
        &functions.getResult<llvm::AssumptionAnalysis>(kernel), &functions.getResult<llvm::TargetIRAnalysis>(kernel),
        &functions.getResult<llvm::OptimizationRemarkEmitterAnalysis>(kernel), /*PreserveLCSSA=*/true);
}

static Status run(Context &context) {
  llvm::Function &kernel = *context.kernel;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  runFunctionPasses(kernel, passes);
  partAliases(kernel, context.target.lanes);
  runFunctionPasses(kernel, passes);
  unrollLoops(kernel, context.target.lanes);
  Known known(kernel, context.target.lanes);
  Joiner joiner(known);
  for (BasicBlock &block : kernel)
    joiner.visit(block);
  joiner.joinAll();
  return {};
}

const Pass join_rows{"join_rows", "four neighbouring accesses of a thread become one where a warp accesses columns",
                     run};

} // namespace opsight::lower::warp
