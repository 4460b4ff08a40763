// map_barriers: __syncthreads and its voting forms become OpenCL barriers that order shared and global memory both.
#include "lower/kernel.h"
#include "lower/spirv/builtins.h"
#include "lower/spirv/passes.h"
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace opsight::lower::spirv {

// Every thread with a true predicate counts itself in one shared word. The last barrier keeps the next vote's clearing
// behind everyone's reading of this one.
static llvm::Value *countInBlock(llvm::IRBuilderBase &builder, llvm::Value *predicate, llvm::GlobalVariable *counter) {
  llvm::Type *word = builder.getInt32Ty();
  // All threads store the same zero: no branch, so the barrier structure stays plain.
  builder.CreateStore(builder.getInt32(0), counter)->setVolatile(true);
  callBlockBarrier(builder);
  builder.CreateAtomicRMW(llvm::AtomicRMWInst::Add, counter, builder.CreateZExt(predicate, word), llvm::Align(4),
                          llvm::AtomicOrdering::Monotonic,
                          builder.getContext().getOrInsertSyncScopeID("workgroup"));
  callBlockBarrier(builder);
  llvm::Value *count = builder.CreateAlignedLoad(word, counter, llvm::Align(4), /*isVolatile=*/true);
  callBlockBarrier(builder);
  return count;
}

static llvm::Value *vote(llvm::IRBuilderBase &builder, llvm::StringRef kind, llvm::Value *predicate,
                         llvm::GlobalVariable *counter) {
  if (kind.starts_with("and")) // all: nobody says no
    return builder.CreateICmpEQ(countInBlock(builder, builder.CreateNot(predicate), counter), builder.getInt32(0));
  llvm::Value *count = countInBlock(builder, predicate, counter);
  return kind.starts_with("or") ? builder.CreateICmpNE(count, builder.getInt32(0)) : count;
}

static Status run(Context &context) {
  llvm::GlobalVariable *counter = nullptr;
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel))) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call)
      continue;
    llvm::StringRef name = call->getCalledFunction()->getName();
    if (!name.consume_front("llvm.nvvm.barrier.cta."))
      continue;
    llvm::IRBuilder<> builder(call);
    auto *number = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0));
    if (!number || !number->isZero() || name.contains(".count"))
      return unsupported("a named barrier", "use __syncthreads()", placeOf(*call));
    if (name.consume_front("red.")) {
      if (!counter)
        counter = createShared(context, builder.getInt32Ty(), "opsight.block_vote");
      call->replaceAllUsesWith(vote(builder, name, call->getArgOperand(1), counter));
    } else {
      callBlockBarrier(builder);
    }
    call->eraseFromParent();
  }
  return {};
}

const Pass map_barriers{"map_barriers", "__syncthreads and its votes become OpenCL barriers", run};

} // namespace opsight::lower::spirv
