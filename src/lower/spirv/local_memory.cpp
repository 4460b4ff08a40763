// local_memory: stack arrays move to address space 5 with a cast to generic behind each, so that inferring address
// spaces can tell a pointer to the stack from one to anywhere; remap_address_spaces turns 5 into SPIR-V's Function.
#include "lower/spirv/passes.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace opsight::lower::spirv {

static Status run(Context &context) {
  llvm::SmallVector<llvm::AllocaInst *> locals;
  llvm::SmallVector<llvm::Instruction *> markers;
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel)) {
    if (auto *local = llvm::dyn_cast<llvm::AllocaInst>(&instruction); local && local->getAddressSpace() == genericSpace)
      locals.push_back(local);
    else if (instruction.isLifetimeStartOrEnd())
      markers.push_back(&instruction);
  }
  for (llvm::Instruction *marker : markers)
    marker->eraseFromParent();
  for (llvm::AllocaInst *local : locals) {
    if (!llvm::isa<llvm::ConstantInt>(local->getArraySize()))
      return unsupported("a local array whose length is not constant", "give it a constant length", placeOf(*local));
    llvm::IRBuilder<> builder(local);
    auto *moved = builder.CreateAlloca(local->getAllocatedType(), localSpace, local->getArraySize());
    moved->setAlignment(local->getAlign());
    moved->takeName(local);
    local->replaceAllUsesWith(builder.CreateAddrSpaceCast(moved, local->getType()));
    local->eraseFromParent();
  }
  return {};
}

const Pass local_memory{"local_memory", "mark stack memory with its own address space", run};

} // namespace opsight::lower::spirv
