// plain_addresses: addresses are computed by instructions, in steps of what they address. LLVM 22's SPIR-V back end gets a
// constant-expression address that several instructions share wrong (it counts its byte offset in elements), and
// drivers see more in typed steps than in bytes.
#include "lower/spirv/passes.h"
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ReplaceConstant.h>

namespace opsight::lower::spirv {

// The type that every user of `pointer` accesses; null where they differ or do something else with it.
static llvm::Type *accessedType(const llvm::Value *pointer) {
  llvm::Type *common = nullptr;
  for (const llvm::User *user : pointer->users()) {
    llvm::Type *type = nullptr;
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(user))
      type = load->getType();
    else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(user); store && store->getPointerOperand() == pointer)
      type = store->getValueOperand()->getType();
    else if (auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(user))
      type = atomic->getType();
    if (!type || (common && common != type))
      return nullptr;
    common = type;
  }
  return common;
}

static void stepByElement(llvm::GetElementPtrInst *address, const llvm::DataLayout &layout) {
  auto *offset = llvm::dyn_cast<llvm::ConstantInt>(address->getOperand(1));
  llvm::Type *type = accessedType(address);
  if (!offset || !type || type->isAggregateType())
    return;
  auto size = int64_t(layout.getTypeAllocSize(type).getFixedValue());
  if (offset->getSExtValue() % size)
    return;
  // Not by a builder, which would fold a step from a variable back into a constant expression.
  auto *steps = llvm::ConstantInt::getSigned(offset->getType(), offset->getSExtValue() / size);
  auto *typed = llvm::GetElementPtrInst::Create(type, address->getPointerOperand(), {steps}, address->getNoWrapFlags(), "",
                                                address->getIterator());
  address->replaceAllUsesWith(typed);
  address->eraseFromParent();
}

static Status run(Context &context) {
  llvm::SmallVector<llvm::Constant *> variables;
  for (llvm::GlobalVariable &variable : context.module.globals())
    variables.push_back(&variable);
  llvm::convertUsersOfConstantsToInstructions(variables);
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel)))
    if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
        address && address->getNumIndices() == 1 && address->getSourceElementType()->isIntegerTy(8))
      stepByElement(address, context.module.getDataLayout());
  return {};
}

const Pass plain_addresses{"plain_addresses", "compute addresses by instructions, in typed steps", run};

} // namespace opsight::lower::spirv
