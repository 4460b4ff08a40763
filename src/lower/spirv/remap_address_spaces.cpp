// remap_address_spaces: from CUDA's numbers to SPIR-V's. Generic 0 → 4, the stack 5 → 0 (Function), constant 4 → 1
// (those variables are buffers now); global 1 and shared 3 are the same in both. The kernel is cloned with every type
// mapped; nothing else in the module may mention a generic pointer by now.
#include "lower/spirv/map_types.h"
#include "lower/spirv/passes.h"
#include <fmt/format.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace opsight::lower::spirv {

namespace {
class AddressSpaceMapper : public TypeMapper {
  llvm::Type *mapScalar(llvm::Type *type) override {
    return type->isPointerTy() ? llvm::PointerType::get(type->getContext(), space(type->getPointerAddressSpace())) : type;
  }
  static unsigned space(unsigned cuda) {
    switch (cuda) {
    case genericSpace: return 4;
    case constantSpace: return 1;
    case localSpace: return 0;
    default: return cuda;
    }
  }
};
} // namespace

// Constant and global memory are one now, so a cast between them is none.
static void dropIdleCasts(llvm::Function &kernel) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(kernel)))
    if (auto *cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&instruction);
        cast && cast->getSrcTy() == cast->getDestTy()) {
      cast->replaceAllUsesWith(cast->getPointerOperand());
      cast->eraseFromParent();
    }
}

static Status run(Context &context) {
  AddressSpaceMapper mapper;
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel))
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      for (llvm::Value *argument : call->args())
        if (mapper.changes(argument->getType()))
          return unsupported(fmt::format("the call {}", readableName(call->getCalledFunction()->getName())), "",
                             placeOf(*call));
  mapTypes(context, mapper);
  dropIdleCasts(*context.kernel);
  return {};
}

const Pass remap_address_spaces{"remap_address_spaces", "from CUDA's address spaces to SPIR-V's", run};

} // namespace opsight::lower::spirv
