// warp_width: how many threads one vector holds. Where the kernel asks what other threads of its warp do, all 32 are one
// vector (perhaps longer than a register: LLVM splits it); else as many as the processor's registers hold floats of, so
// that a register tile needs no more registers than it says. Who is watched is seen in CUDA's warps.
#include "cuda/matrix.h"
#include "lower/lower.h"
#include "lower/spirv/warp_operations.h"
#include "lower/warp/passes.h"
#include <bit>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

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

static Status run(Context &context) {
  if (context.target.lanes == 0) {
    auto lanes = nativeLanes(context.target.processor);
    if (!lanes)
      return std::unexpected(lanes.error());
    context.target.lanes = *lanes;
  }
  if (uint64_t threads = context.target.block.count(); threads < context.target.lanes)
    context.target.lanes = std::max(2u, std::bit_ceil(unsigned(threads)));
  if (context.target.watched || thinksInWarps(*context.kernel, context.target.lanes))
    context.target.lanes = 32;
  return {};
}

const Pass warp_width{"warp_width", "choose how many threads one vector holds", run};

} // namespace opsight::lower::warp
