// map_warps: warp operations that every thread of the block reaches together (schedule_threads saw to that) exchange
// their words through an array in shared memory: publish, barrier, read, barrier.
#include "lower/kernel.h"
#include "lower/spirv/builtins.h"
#include "lower/spirv/warp_operations.h"

namespace opsight::lower::spirv {

static llvm::Value *exchange(llvm::IRBuilderBase &b, const WarpOperation &operation, llvm::GlobalVariable *words) {
  WarpView view = createWarpView(b);
  if (operation.kind == WarpKind::ActiveMask)
    return view.present;
  llvm::Value *own = publishedValue(b, operation);
  llvm::Value *thread = b.CreateAdd(view.base, view.lane);
  b.CreateAlignedStore(own, wordAddress(b, words, thread), llvm::Align(4));
  callBlockBarrier(b);
  llvm::Value *word = nullptr;
  if (operation.isShuffle()) {
    llvm::Value *source = b.CreateAdd(view.base, sourceLane(b, operation, view.lane));
    word = b.CreateAlignedLoad(b.getInt32Ty(), wordAddress(b, words, source), llvm::Align(4));
  } else {
    auto read = [&](unsigned lane) { return wordOfLane(b, words, view, lane); };
    word = combineLanes(b, operation.kind, read, b.CreateAnd(operation.mask, view.present), own);
  }
  callBlockBarrier(b);
  return asResult(b, operation, word);
}

static Status run(Context &context) {
  llvm::SmallVector<WarpOperation> operations = findWarpOperations(*context.kernel);
  if (operations.empty())
    return {};
  uint64_t threads = llvm::alignTo(context.target.block.count(), 32);
  llvm::Type *type = llvm::ArrayType::get(llvm::Type::getInt32Ty(context.module.getContext()), threads);
  llvm::GlobalVariable *words = createShared(context, type, "opsight.warp_words");
  for (const WarpOperation &operation : operations) {
    llvm::IRBuilder<> builder(operation.call);
    if (operation.kind == WarpKind::Sync)
      callBlockBarrier(builder);
    else
      operation.call->replaceAllUsesWith(exchange(builder, operation, words));
    operation.call->eraseFromParent();
  }
  context.manifest.requiredBlock = context.target.block;
  context.manifest.notes.push_back("warp operations go through shared memory");
  return {};
}

const Pass map_warps{"map_warps", "warp operations exchange words through shared memory", run};

} // namespace opsight::lower::spirv
