// join_accesses: what the source reads or writes as one vector, and LLVM has taken apart, is one access again where its
// alignment is known: so an NVIDIA compiler emits it, and so banks and sectors are to be counted.
#include "lower/analyses.h"
#include "lower/watch/calls.h"
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Vectorize/LoadStoreVectorizer.h>

namespace opsight::lower::watch {

// LLVM 22's pass compares the indices of two addresses and not what they count: of one pointer, the float at t and the
// float4 at t are the same place to it. Where a pointer is indexed by more than one type, all count bytes before it
// looks.
static void countBytesWhereTypesDiffer(llvm::Function &kernel) {
  struct Indexed {
    llvm::SmallPtrSet<llvm::Type *, 2> types;
    llvm::SmallVector<llvm::GetElementPtrInst *> addresses;
  };
  llvm::MapVector<llvm::Value *, Indexed> byPointer;
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
        address && !address->hasAllConstantIndices() && !address->getType()->isVectorTy()) {
      Indexed &indexed = byPointer[address->getPointerOperand()->stripInBoundsConstantOffsets()];
      indexed.types.insert(address->getSourceElementType());
      indexed.addresses.push_back(address);
    }
  for (auto &[pointer, indexed] : byPointer)
    for (llvm::GetElementPtrInst *address :
         indexed.types.size() > 1 ? indexed.addresses : decltype(indexed.addresses){}) {
      llvm::IRBuilder<> b(address);
      llvm::Value *bytes = llvm::emitGEPOffset(&b, kernel.getDataLayout(), address);
      address->replaceAllUsesWith(b.CreateGEP(b.getInt8Ty(), address->getPointerOperand(), bytes, address->getName(),
                                              address->getNoWrapFlags()));
      address->eraseFromParent();
    }
}

static Status run(Context &context) {
  if (context.target.watched == Watched::No)
    return {};
  countBytesWhereTypesDiffer(*context.kernel);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoadStoreVectorizerPass());
  runFunctionPasses(*context.kernel, passes);
  return {};
}

const Pass join_accesses{"join_accesses", "neighbouring accesses of a thread become one", run};

} // namespace opsight::lower::watch
