// expand_memory_calls: llvm.memcpy, memmove and memset become loads and stores, which need no address-space variant of an
// intrinsic and which every consumer takes.
#include "lower/analyses.h"
#include "lower/spirv/passes.h"
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LowerMemIntrinsics.h>

namespace opsight::lower::spirv {

static Status run(Context &context) {
  llvm::SmallVector<llvm::MemIntrinsic *> calls;
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel))
    if (auto *call = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction))
      calls.push_back(call);
  Analyses analyses;
  auto &costs = analyses.functions.getResult<llvm::TargetIRAnalysis>(*context.kernel);
  for (llvm::MemIntrinsic *call : calls) {
    if (auto *copy = llvm::dyn_cast<llvm::MemCpyInst>(call))
      llvm::expandMemCpyAsLoop(copy, costs);
    else if (auto *move = llvm::dyn_cast<llvm::MemMoveInst>(call)) {
      if (!llvm::expandMemMoveAsLoop(move, costs))
        return unsupported("memmove between two memories", "use memcpy", placeOf(*call));
    } else if (auto *set = llvm::dyn_cast<llvm::MemSetInst>(call))
      llvm::expandMemSetAsLoop(set);
    call->eraseFromParent();
  }
  return {};
}

const Pass expand_memory_calls{"expand_memory_calls", "memcpy, memmove and memset become loops", run};

} // namespace opsight::lower::spirv
