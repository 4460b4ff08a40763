// warp_width: how many threads one vector holds. Where the kernel asks what other threads of its warp do, as many as it
// asks among, up to all 32, are one vector (perhaps longer than a register: LLVM splits it). Else a register's worth of
// floats is the least, so that a register tile needs no more registers than it says; where few values are alive at once in a loop or over a barrier, a
// vector is several registers long: they hide each other's latency, and what is done once a vector is done less often.
// Where rows of a block's threads read the same, several rows are one vector. Who is watched is seen in CUDA's warps.
#include "cuda/matrix.h"
#include "lower/lower.h"
#include "lower/spirv/warp_operations.h"
#include "lower/warp/divergence.h"
#include "lower/warp/passes.h"
#include "lower/warp/pressure.h"
#include <bit>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace opsight::lower::warp {

constexpr unsigned longest = 128;

// Programs from before __syncwarp() rely on a warp in step where they read shared memory as volatile.
static bool isVolatile(const llvm::Instruction &instruction) {
  auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  return (load && load->isVolatile()) || (store && store->isVolatile());
}

// A shuffle that stays within aligned groups of `lanes` threads, whatever its operands at run time: by its width, or
// because it exchanges with a neighbour whose number differs in low bits only.
static bool staysWithin(const spirv::WarpOperation &operation, unsigned lanes) {
  auto *clamp = llvm::dyn_cast_or_null<llvm::ConstantInt>(operation.clamp);
  if (!operation.isShuffle() || !clamp)
    return false;
  unsigned width = 32 - (unsigned(clamp->getZExtValue()) >> 8 & 31);
  auto *lane = llvm::dyn_cast<llvm::ConstantInt>(operation.lane);
  bool exchangesNear = operation.kind == spirv::WarpKind::ShuffleXor && lane && lane->getZExtValue() < lanes;
  return lane && (width <= lanes || exchangesNear);
}

static bool thinksInWarps(llvm::Function &kernel, unsigned lanes) {
  return llvm::any_of(llvm::instructions(kernel), [&](llvm::Instruction &instruction) {
    auto operation = spirv::asWarpOperation(instruction);
    bool isMatrix = cuda::asMatrixProduct(instruction) || cuda::asMatrixLoad(instruction);
    return isMatrix || (operation && !staysWithin(*operation, lanes)) || isVolatile(instruction);
  });
}

// Threads take turns there, and a longer vector only makes the queue longer.
static bool takesTurns(const llvm::Instruction &instruction) {
  return llvm::isa<llvm::AtomicRMWInst>(instruction) || llvm::isa<llvm::AtomicCmpXchgInst>(instruction);
}

/// Whether threads ask their warp for anything: no vector may be longer than that then.
static bool asksOthers(llvm::Function &kernel) {
  return llvm::any_of(llvm::instructions(kernel), [](llvm::Instruction &instruction) {
    bool isMatrix = cuda::asMatrixProduct(instruction) || cuda::asMatrixLoad(instruction);
    return isMatrix || spirv::asWarpOperation(instruction) || isVolatile(instruction);
  });
}

// Straight through, nothing waits for a round before it or is done again and again.
static bool hasRounds(llvm::Function &kernel) {
  WarpAnalyses analyses;
  return !analyses.functions.getResult<llvm::LoopAnalysis>(kernel).empty() ||
         llvm::any_of(llvm::instructions(kernel), [](llvm::Instruction &it) { return spirv::isBarrier(it); });
}

/// What is found out on a copy of the kernel: which values differ depends on the lanes.
struct Trial {
  unsigned liveBytes; // what a thread keeps in vectors at once
  bool sharesReads;   // most of what is read is the same for both halves of a vector
};

/// Loads from addresses that the lanes' constants tell: the same in both halves, against others.
static bool sharesReads(llvm::Function &kernel, const Shapes &shapes) {
  unsigned shared = 0, others = 0;
  for (llvm::Instruction &instruction : llvm::instructions(kernel)) {
    auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || shapes.of(load->getPointerOperand()).isUniform())
      continue;
    Shape address = shapes.of(load->getPointerOperand());
    auto offsets = llvm::ArrayRef(address.offsets);
    size_t half = offsets.size() / 2;
    bool isBroadcast = address.isPattern() && runsOf(offsets, 0).size() <= mostRuns; // one number for each row of threads
    bool isShared = address.isPattern() && offsets.take_front(half) == offsets.drop_front(half);
    shared += isShared, others += !isShared && !isBroadcast;
  }
  return shared > others;
}

static Result<Trial> tryLanes(const Context &context, unsigned lanes) {
  auto copy = llvm::CloneModule(context.module);
  Context trial{*copy, copy->getFunction(context.kernel->getName()), context.target, context.manifest};
  trial.target.lanes = lanes;
  for (const Pass *pass : {&thread_indices, &shared_memory, &simplify})
    if (Status done = pass->run(trial); !done)
      return std::unexpected(done.error());
  WarpAnalyses analyses;
  Shapes shapes(*trial.kernel, lanes, analyses.functions.getResult<llvm::UniformityInfoAnalysis>(*trial.kernel),
                analyses.functions.getResult<llvm::LoopAnalysis>(*trial.kernel));
  return Trial{mostLiveBytes(*trial.kernel, shapes, lanes <= 32), sharesReads(*trial.kernel, shapes)};
}

/// The longest vector with which the kernel stays in registers of `native` floats; never less than `least`. Up to CUDA's
/// warp, and, where rows of threads read the same, up to four rows: they share what they read, and hide each other's
/// latency. Of those a block has two at least: of shared memory that one vector alone uses, LLVM 22 (SROA) has been seen to
/// make values that are used before they are there.
static Result<unsigned> lanesThatFit(const Context &context, unsigned native, unsigned least) {
  if (!hasRounds(*context.kernel) || llvm::any_of(llvm::instructions(*context.kernel), takesTurns))
    return least;
  unsigned registers = native == 16 ? 32 : 16; // AVX-512 doubles both their size and their number
  unsigned free = registers * 3 / 4;          // the others hold constants and what a single instruction needs
  const card::Dim3 &block = context.target.block;
  for (unsigned lanes = longest; lanes > least; lanes /= 2) {
    bool isLong = lanes > 32;
    bool holdsRows = lanes % block.x == 0 && lanes / block.x <= mostRuns && block.count() > lanes;
    if (block.count() % lanes || (isLong && (!holdsRows || asksOthers(*context.kernel))))
      continue;
    auto trial = tryLanes(context, lanes);
    if (!trial)
      return std::unexpected(trial.error());
    if (trial->liveBytes * lanes <= free * native * sizeof(float) && (!isLong || trial->sharesReads))
      return lanes;
  }
  return least;
}

static Status run(Context &context) {
  auto native = nativeLanes(context.target.processor);
  if (!native)
    return std::unexpected(native.error());
  bool isFree = context.target.lanes == 0;
  unsigned &lanes = context.target.lanes;
  if (isFree)
    lanes = *native;
  if (uint64_t threads = context.target.block.count(); threads < lanes)
    lanes = std::max(2u, std::bit_ceil(unsigned(threads)));
  while (lanes < 32 && (context.target.watched != Watched::No || thinksInWarps(*context.kernel, lanes)))
    lanes *= 2;
  if (lanes > 32 && (context.target.watched != Watched::No || asksOthers(*context.kernel)))
    lanes = 32;
  while (lanes > 32 && context.target.block.count() < 2 * lanes)
    lanes /= 2;
  if (!isFree || lanes == 32)
    return {};
  auto fitting = lanesThatFit(context, *native, lanes);
  if (!fitting)
    return std::unexpected(fitting.error());
  lanes = *fitting;
  return {};
}

const Pass warp_width{"warp_width", "choose how many threads one vector holds", run};

} // namespace opsight::lower::warp
