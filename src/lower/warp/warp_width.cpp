// warp_width: how many threads one vector holds. Where the kernel asks what other threads of its warp do, as many as it
// asks among, up to all 32, are one vector (perhaps longer than a register: LLVM splits it). Else a register's worth of
// floats is the least, so that a register tile needs no more registers than it says; where few values are alive at once in a loop or over a barrier, a
// vector is several registers long: they hide each other's latency, and what is done once a vector is done less often.
// Who is watched is seen in CUDA's warps.
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

// Straight through, nothing waits for a round before it or is done again and again.
static bool hasRounds(llvm::Function &kernel) {
  WarpAnalyses analyses;
  return !analyses.functions.getResult<llvm::LoopAnalysis>(kernel).empty() ||
         llvm::any_of(llvm::instructions(kernel), [](llvm::Instruction &it) { return spirv::isBarrier(it); });
}

/// What a thread keeps in vectors of `lanes` threads, found out on a copy: which values differ depends on the lanes.
static Result<unsigned> liveBytes(const Context &context, unsigned lanes) {
  auto copy = llvm::CloneModule(context.module);
  Context trial{*copy, copy->getFunction(context.kernel->getName()), context.target, context.manifest};
  trial.target.lanes = lanes;
  for (const Pass *pass : {&thread_indices, &shared_memory, &simplify})
    if (Status done = pass->run(trial); !done)
      return std::unexpected(done.error());
  WarpAnalyses analyses;
  Shapes shapes(*trial.kernel, lanes, analyses.functions.getResult<llvm::UniformityInfoAnalysis>(*trial.kernel),
                analyses.functions.getResult<llvm::LoopAnalysis>(*trial.kernel));
  return mostLiveBytes(*trial.kernel, shapes);
}

/// The longest vector, up to CUDA's warp, with which the kernel stays in registers of `native` floats; never less than
/// `least`.
static Result<unsigned> lanesThatFit(const Context &context, unsigned native, unsigned least) {
  if (!hasRounds(*context.kernel) || llvm::any_of(llvm::instructions(*context.kernel), takesTurns))
    return least;
  unsigned registers = native == 16 ? 32 : 16; // AVX-512 doubles both their size and their number
  unsigned free = registers * 3 / 4;          // the others hold constants and what a single instruction needs
  for (unsigned lanes = 32; lanes > least; lanes /= 2) {
    if (context.target.block.count() % lanes)
      continue;
    auto bytes = liveBytes(context, lanes);
    if (!bytes)
      return bytes;
    if (*bytes * lanes <= free * native * sizeof(float))
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
