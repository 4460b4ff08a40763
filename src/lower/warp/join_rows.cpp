// join_rows: where each thread walks along a row of its own (`tile[threadIdx.x][d]`, d = 0, 1, …), the warp's threads
// together read columns, and every element would be gathered. Four neighbouring reads of a thread become one of four
// elements, which a warp does with a load a thread and a transposition in registers, or, where the threads' rows lie side
// by side, with whole vectors. A loop that takes a step along the rows at a time takes four.
#include "lower/warp/divergence.h"
#include "lower/warp/passes.h"
#include "lower/warp/patterns.h"
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

namespace opsight::lower::warp {

using llvm::BasicBlock, llvm::Instruction, llvm::LoadInst, llvm::Loop, llvm::ScalarEvolution;

constexpr unsigned rowLength = 4;         // elements read at once: what transposes in one 128-bit part of a vector
constexpr uint64_t elementBytes = 4;
constexpr size_t largestBody = 200;       // instructions of a loop that is worth four times its size
constexpr size_t mostLoadsTogether = 256; // each is compared with the first of every row

namespace {
struct Found {
  int64_t distance; // bytes behind the row's first-found element
  LoadInst *load;
};
using Row = llvm::SmallVector<Found, 4>;
using Rows = llvm::SmallVector<std::pair<const llvm::SCEV *, Row>, 4>;

/// What holds until the function changes.
struct Known {
  explicit Known(llvm::Function &kernel, unsigned lanes)
      : loops(analyses.functions.getResult<llvm::LoopAnalysis>(kernel)),
        evolution(analyses.functions.getResult<llvm::ScalarEvolutionAnalysis>(kernel)),
        shapes(kernel, lanes, analyses.functions.getResult<llvm::UniformityInfoAnalysis>(kernel), loops) {}
  WarpAnalyses analyses;
  llvm::LoopInfo &loops;
  ScalarEvolution &evolution;
  Shapes shapes;
};
} // namespace

// One that would be gathered: neither a few pieces nor one element for all.
static bool isScattered(const LoadInst &load, const Shapes &shapes, const llvm::DataLayout &layout) {
  llvm::Type *type = load.getType();
  if (!load.isSimple() || (!type->isFloatTy() && !type->isIntegerTy(32)) || layout.getTypeStoreSize(type) != elementBytes)
    return false;
  Shape address = shapes.of(load.getPointerOperand());
  return address.isVarying() || (address.isPattern() && runsOf(address.offsets, elementBytes).size() > mostRuns);
}

static void put(Rows &rows, LoadInst &load, ScalarEvolution &evolution) {
  const llvm::SCEV *address = evolution.getSCEV(load.getPointerOperand());
  for (auto &[first, row] : rows) {
    if (first->getType() != address->getType() || row[0].load->getType() != load.getType())
      continue;
    if (auto *distance = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(address, first))) {
      row.push_back({distance->getAPInt().getSExtValue(), &load});
      return;
    }
  }
  rows.push_back({address, {Found{0, &load}}});
}

// Four that follow each other in memory, at the place of the one that comes first in the block.
static void joinFour(llvm::ArrayRef<Found> four) {
  const Found *earliest = four.begin();
  for (const Found &found : four)
    if (found.load->comesBefore(earliest->load))
      earliest = &found;
  llvm::IRBuilder<> b(earliest->load);
  llvm::Value *address = earliest->load->getPointerOperand();
  if (int64_t back = four[0].distance - earliest->distance)
    address = b.CreateGEP(b.getInt8Ty(), address, b.getInt64(uint64_t(back)));
  auto *type = llvm::FixedVectorType::get(four[0].load->getType(), rowLength);
  LoadInst *all = b.CreateAlignedLoad(type, address, four[0].load->getAlign());
  for (unsigned i = 0; i < rowLength; ++i)
    four[i].load->replaceAllUsesWith(b.CreateExtractElement(all, uint64_t(i)));
  for (const Found &found : four) // last: the builder stands before one of them
    found.load->eraseFromParent();
}

static void joinRow(Row row) {
  llvm::sort(row, [](const Found &a, const Found &b) {
    return a.distance != b.distance ? a.distance < b.distance : a.load->comesBefore(b.load);
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

// Between two loads of a row nothing may write, and nobody may leave.
static void joinIn(BasicBlock &block, Known &known, const llvm::DataLayout &layout) {
  Rows rows;
  llvm::SmallVector<Row> complete;
  size_t count = 0;
  auto close = [&] {
    for (auto &[first, row] : rows)
      complete.push_back(std::move(row));
    rows.clear();
    count = 0;
  };
  for (Instruction &instruction : block) {
    auto *load = llvm::dyn_cast<LoadInst>(&instruction);
    if (load && isScattered(*load, known.shapes, layout) && count++ < mostLoadsTogether)
      put(rows, *load, known.evolution);
    else if (instruction.mayWriteToMemory() || !llvm::isGuaranteedToTransferExecutionToSuccessor(&instruction))
      close();
  }
  close();
  for (Row &row : complete) // only now: the rows were compared by what their loads were
    joinRow(std::move(row));
}

// A loop of one block in which every thread goes along its row element by element, and which only reads.
static bool walksAlongRows(Loop &loop, Known &known, const llvm::DataLayout &layout) {
  BasicBlock *body = loop.getHeader();
  if (loop.getNumBlocks() != 1 || body->size() > largestBody)
    return false;
  bool walks = false;
  for (Instruction &instruction : *body) {
    if (instruction.mayWriteToMemory() || llvm::isa<llvm::CallBase>(instruction) != llvm::isa<llvm::IntrinsicInst>(instruction))
      return false;
    auto *load = llvm::dyn_cast<LoadInst>(&instruction);
    if (!load || !isScattered(*load, known.shapes, layout))
      continue;
    auto *step = llvm::dyn_cast<llvm::SCEVAddRecExpr>(known.evolution.getSCEV(load->getPointerOperand()));
    auto *bytes = step && step->getLoop() == &loop && step->isAffine()
                      ? llvm::dyn_cast<llvm::SCEVConstant>(step->getStepRecurrence(known.evolution))
                      : nullptr;
    walks |= bytes && bytes->getAPInt() == elementBytes;
  }
  return walks;
}

static void unrollLoops(llvm::Function &kernel, unsigned lanes) {
  Known known(kernel, lanes);
  auto &functions = known.analyses.functions;
  llvm::SmallVector<Loop *> chosen;
  for (Loop *loop : known.loops.getLoopsInPreorder())
    if (loop->isLoopSimplifyForm() && walksAlongRows(*loop, known, kernel.getDataLayout()))
      chosen.push_back(loop);
  llvm::UnrollLoopOptions options{};
  options.Count = rowLength;
  options.Runtime = true;
  options.SCEVExpansionBudget = 8;
  for (Loop *loop : chosen)
    llvm::UnrollLoop(loop, options, &known.loops, &known.evolution,
                     &functions.getResult<llvm::DominatorTreeAnalysis>(kernel),
                     &functions.getResult<llvm::AssumptionAnalysis>(kernel),
                     &functions.getResult<llvm::TargetIRAnalysis>(kernel),
                     &functions.getResult<llvm::OptimizationRemarkEmitterAnalysis>(kernel), /*PreserveLCSSA=*/true);
}

static Status run(Context &context) {
  llvm::Function &kernel = *context.kernel;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  WarpAnalyses analyses;
  passes.run(kernel, analyses.functions);
  unrollLoops(kernel, context.target.lanes);
  Known known(kernel, context.target.lanes);
  for (BasicBlock &block : kernel)
    joinIn(block, known, kernel.getDataLayout());
  return {};
}

const Pass join_rows{"join_rows", "four neighbouring reads of a thread become one where a warp reads columns", run};

} // namespace opsight::lower::warp
