// trap_asserts: __trap() becomes a failed assert, which `speak` lowers: OpenCL has no way to abort a launch, and a trap
// that only vanished would let a broken kernel pass.
#include "lower/spirv/passes.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace opsight::lower::spirv {

static void replaceTrap(llvm::IntrinsicInst *trap) {
  SourcePlace place = placeOf(*trap);
  llvm::IRBuilder<> builder(trap);
  llvm::Type *pointer = builder.getPtrTy();
  auto callee = trap->getModule()->getOrInsertFunction("__opsight_assert", builder.getVoidTy(), pointer, pointer,
                                                       builder.getInt32Ty(), pointer);
  builder.CreateCall(callee, {builder.CreateGlobalString("__trap() is never reached"), builder.CreateGlobalString(place.file),
                              builder.getInt32(place.line),
                              builder.CreateGlobalString(trap->getFunction()->getName())});
  trap->eraseFromParent();
}

static Status run(Context &context) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel)))
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
        call && (call->getIntrinsicID() == llvm::Intrinsic::trap || call->getIntrinsicID() == llvm::Intrinsic::ubsantrap))
      replaceTrap(call);
  return {};
}

const Pass trap_asserts{"trap_asserts", "a trap is a failed assert", run};

} // namespace opsight::lower::spirv
