// mark_returns: numbers the barriers' places, and notes at each branch that leads some threads to nothing but the end
// that they have gone: they count no more at barriers, as on the hardware. Who is missing without having gone is a fault
// that `vectorise` has reported. Runs before `structure`, which makes one return of all.
#include "lower/spirv/warp_operations.h"
#include "lower/warp/emitter.h"
#include "lower/warp/passes.h"
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>

namespace opsight::lower::warp {

using llvm::BasicBlock;

static bool numberPlaces(Context &context) {
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel)) {
    if (!spirv::isBlockBarrier(instruction))
      continue;
    llvm::IRBuilder<> b(&instruction);
    llvm::Constant *number = b.getInt32(uint32_t(context.places.size()));
    context.places.push_back(placeOf(instruction));
    instruction.setMetadata("opsight.place", llvm::MDNode::get(instruction.getContext(), llvm::ConstantAsMetadata::get(number)));
  }
  return !context.places.empty();
}

// Whether nothing that another thread could see, nor a barrier, lies on any way from `block` to the end.
static bool onlyEnds(const BasicBlock *block, llvm::SmallPtrSetImpl<const BasicBlock *> &seen) {
  if (!seen.insert(block).second)
    return true;
  for (const llvm::Instruction &instruction : *block)
    if (instruction.mayHaveSideEffects())
      return false;
  return llvm::all_of(llvm::successors(block), [&](const BasicBlock *next) { return onlyEnds(next, seen); });
}

static Status run(Context &context) {
  if (!numberPlaces(context))
    return {};
  llvm::FunctionCallee retire = context.module.getOrInsertFunction(
      retireName, llvm::Type::getVoidTy(context.module.getContext()), llvm::Type::getInt1Ty(context.module.getContext()));
  for (BasicBlock &block : *context.kernel) {
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional())
      continue;
    bool ends[2];
    for (unsigned side : {0u, 1u}) {
      llvm::SmallPtrSet<const BasicBlock *, 8> seen;
      ends[side] = onlyEnds(branch->getSuccessor(side), seen);
    }
    if (ends[0] == ends[1])
      continue;
    llvm::IRBuilder<> b(branch);
    b.CreateCall(retire, ends[0] ? branch->getCondition() : b.CreateNot(branch->getCondition()));
  }
  return {};
}

const Pass mark_returns{"mark_returns", "note where threads have gone for good, and where barriers stand", run};

} // namespace opsight::lower::warp
