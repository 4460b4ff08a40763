// map_subgroups: where a module's warp operations go. This is the one place that decides it, for all operations of a
// kernel alike:
//
//   subgroups      the device has subgroups of 32, a warp is one of them, and every warp reaches each operation whole
//   shared memory  (map_warps) else, where all threads of the block reach each operation together
//   rounds         (schedule_threads) else
//
// and does the first. OpenCL numbers the threads of a subgroup along a row of the block, while a warp may go on in the
// next row: see warpsLieInRows(). Subgroups read only what their own control flow brings there, so an operation in a
// branch that parts a warp is not theirs, nor is anything in a kernel whose threads proceed in rounds.
#include "lower/spirv/block_uniformity.h"
#include "lower/spirv/builtins.h"
#include "lower/spirv/warp_operations.h"
#include "lower/spirv/warp_uniformity.h"
#include <fmt/format.h>

namespace opsight::lower::spirv {

using llvm::IRBuilderBase, llvm::Value;

static constexpr uint32_t warpWidth = 32;

// Why the warp operations of a device with subgroups cannot use them; empty where they can.
static std::string whyNot(llvm::Function &kernel, const card::Dim3 &block) {
  if (!warpsLieInRows(block))
    return fmt::format("rows of {} threads are not whole warps", block.x);
  if (std::string why = whyRounds(kernel, /*barriersAlone=*/true); !why.empty())
    return why;
  auto places = reachedByPartOfAWarp(kernel, block);
  return places.empty() ? "" : fmt::format("line {} is not provably reached by whole warps", places.front().line);
}

static Value *shuffle(IRBuilderBase &b, Value *word, Value *source) {
  return callBuiltin(b, "sub_group_shuffle", b.getInt32Ty(), {word, source}, /*isUnsigned=*/true, /*convergent=*/true);
}

// Bit l: whether `predicate` holds in lane l; zero for lanes that the block has not.
static Value *ballot(IRBuilderBase &b, Value *predicate) {
  auto *lanes = llvm::FixedVectorType::get(b.getInt32Ty(), 4); // up to 128 of them
  Value *bits = callBuiltin(b, "sub_group_ballot", lanes, {b.CreateZExt(predicate, b.getInt32Ty())},
                            /*isUnsigned=*/false, /*convergent=*/true);
  return b.CreateExtractElement(bits, uint64_t(0));
}

static void syncWarp(IRBuilderBase &b) {
  constexpr uint32_t subgroupScope = 3, acquireReleaseOfBothMemories = 0x8 | 0x100 | 0x200;
  callBuiltin(b, "__spirv_ControlBarrier", b.getVoidTy(),
              {b.getInt32(subgroupScope), b.getInt32(subgroupScope), b.getInt32(acquireReleaseOfBothMemories)},
              /*isUnsigned=*/true, /*convergent=*/true);
}

// The builtin that reduces over all lanes there are; empty where the operation is no reduction.
static std::pair<llvm::StringRef, bool> reduction(WarpKind kind) {
  switch (kind) {
  case WarpKind::ReduceAdd: return {"add", true};
  case WarpKind::ReduceMin: return {"min", false};
  case WarpKind::ReduceMax: return {"max", false};
  case WarpKind::ReduceUMin: return {"min", true};
  case WarpKind::ReduceUMax: return {"max", true};
  case WarpKind::ReduceAnd: return {"and", true};
  case WarpKind::ReduceOr: return {"or", true};
  case WarpKind::ReduceXor: return {"xor", true};
  default: return {};
  }
}

static bool takesAllLanes(const WarpOperation &operation) {
  auto *mask = llvm::dyn_cast<llvm::ConstantInt>(operation.mask);
  return mask && mask->isMinusOne();
}

// A lane counts the lanes of its own mask only: halves of a warp may each name themselves in one and the same operation.
static Value *combine(IRBuilderBase &b, const WarpOperation &operation, Value *present) {
  Value *zero = b.getInt32(0), *word = publishedValue(b, operation), *mask = b.CreateAnd(operation.mask, present);
  switch (operation.kind) {
  case WarpKind::Ballot: return b.CreateAnd(ballot(b, operation.value), mask);
  case WarpKind::Any:
    return b.CreateZExt(b.CreateICmpNE(b.CreateAnd(ballot(b, operation.value), mask), zero), b.getInt32Ty());
  case WarpKind::All:
    return b.CreateZExt(b.CreateICmpEQ(b.CreateAnd(ballot(b, b.CreateNot(operation.value)), mask), zero), b.getInt32Ty());
  default: break;
  }
  if (auto [name, isUnsigned] = reduction(operation.kind); !name.empty() && takesAllLanes(operation))
    return callBuiltin(b, ("sub_group_non_uniform_reduce_" + name).str(), b.getInt32Ty(), {word}, isUnsigned,
                       /*convergent=*/true);
  auto read = [&](unsigned lane) { return shuffle(b, word, b.getInt32(lane)); };
  return combineLanes(b, operation.kind, read, mask, word);
}

// The lanes that the block has in this thread's warp, whose lane 0 is thread `first` of a row. Only a block of one row may
// end in a warp that lacks some.
static Value *presentLanes(IRBuilderBase &b, Value *first, const card::Dim3 &block) {
  if (block.x % warpWidth == 0)
    return b.getInt32(-1);
  uint32_t last = block.x / warpWidth * warpWidth;
  return b.CreateSelect(b.CreateICmpEQ(first, b.getInt32(last)), b.getInt32((1u << (block.x - last)) - 1), b.getInt32(-1));
}

// The thread's place comes from its number in the row alone, and sizes are known: drivers then see which lanes are read.
static void replace(const WarpOperation &operation, const card::Dim3 &block) {
  llvm::IRBuilder<> b(operation.call);
  if (operation.kind == WarpKind::Sync) {
    syncWarp(b);
  } else {
    Value *inRow = callIndex(b, "get_local_id", 0), *lane = b.CreateAnd(inRow, warpWidth - 1);
    Value *present = presentLanes(b, b.CreateSub(inRow, lane), block), *word = present; // what __activemask() gives
    if (operation.isShuffle())
      word = shuffle(b, publishedValue(b, operation), sourceLane(b, operation, lane));
    else if (operation.kind != WarpKind::ActiveMask)
      word = combine(b, operation, present);
    operation.call->replaceAllUsesWith(asResult(b, operation, word));
  }
  operation.call->eraseFromParent();
}

static Status run(Context &context) {
  llvm::SmallVector<WarpOperation> operations = findWarpOperations(*context.kernel);
  if (operations.empty() || !context.target.subgroupWidths.contains(warpWidth))
    return {};
  if (std::string why = whyNot(*context.kernel, context.target.block); !why.empty()) {
    context.manifest.notes.push_back("warp operations use no subgroups, because " + why);
    return {};
  }
  for (const WarpOperation &operation : operations)
    replace(operation, context.target.block);
  llvm::LLVMContext &llvmContext = context.module.getContext();
  auto *width = llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(llvmContext), warpWidth));
  context.kernel->setMetadata("intel_reqd_sub_group_size", llvm::MDNode::get(llvmContext, width));
  context.manifest.subgroupWidth = warpWidth;
  context.manifest.requiredBlock = context.target.block;
  context.manifest.notes.push_back("warp operations are subgroup operations");
  return {};
}

const Pass map_subgroups{"map_subgroups", "warp operations become subgroup operations where warps stay whole", run};

} // namespace opsight::lower::spirv
