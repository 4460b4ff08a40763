// map_atomics: atomic operations that OpenCL 1.2 devices have stay; the rest (float sums, wrapping increments) become
// compare-and-swap loops on integers of the same width.
#include "lower/spirv/passes.h"
#include <llvm/CodeGen/AtomicExpandUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace opsight::lower::spirv {

static bool staysNative(const llvm::AtomicRMWInst &atomic) {
  using Op = llvm::AtomicRMWInst;
  switch (atomic.getOperation()) {
  case Op::Xchg: return atomic.getType()->isIntegerTy();
  case Op::Add: case Op::Sub: case Op::And: case Op::Or: case Op::Xor:
  case Op::Max: case Op::Min: case Op::UMax: case Op::UMin: return true;
  default: return false;
  }
}

// CUDA's scopes by the names that the SPIR-V back end knows; the widest that OpenCL 1.2 can promise is the device.
static llvm::SyncScope::ID scopeFor(llvm::LLVMContext &context, llvm::SyncScope::ID scope) {
  llvm::SmallVector<llvm::StringRef> names;
  context.getSyncScopeNames(names);
  llvm::StringRef name = names[scope];
  return context.getOrInsertSyncScopeID(name == "block" || name == "workgroup" ? "workgroup" : "device");
}

static void createCompareExchange(llvm::IRBuilderBase &builder, llvm::Value *address, llvm::Value *loaded,
                                  llvm::Value *wanted, llvm::Align align, llvm::AtomicOrdering order,
                                  llvm::SyncScope::ID scope, llvm::Value *&success, llvm::Value *&found,
                                  llvm::Instruction *) {
  llvm::Type *type = loaded->getType(), *word = builder.getIntNTy(unsigned(type->getPrimitiveSizeInBits()));
  auto *pair = builder.CreateAtomicCmpXchg(address, builder.CreateBitCast(loaded, word), builder.CreateBitCast(wanted, word),
                                           align, order, llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order), scope);
  success = builder.CreateExtractValue(pair, 1);
  found = builder.CreateBitCast(builder.CreateExtractValue(pair, 0), type);
}

static Status checkWidth(const llvm::Instruction &atomic, llvm::Type *type, card::Manifest &manifest) {
  uint64_t bits = type->isPointerTy() ? 64 : uint64_t(type->getPrimitiveSizeInBits());
  if (bits != 32 && bits != 64)
    return unsupported("an atomic operation on " + std::to_string(bits) + " bits", "OpenCL has 32 and 64", placeOf(atomic));
  manifest.needsInt64Atomics |= bits == 64;
  return {};
}

static Status run(Context &context) {
  llvm::LLVMContext &llvmContext = context.module.getContext();
  llvm::SmallVector<llvm::AtomicRMWInst *> toExpand;
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel)) {
    llvm::Type *type = nullptr;
    if (auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      type = atomic->getType();
      atomic->setSyncScopeID(scopeFor(llvmContext, atomic->getSyncScopeID()));
      context.manifest.usesFloatAtomics |= type->isFloatingPointTy() && atomic->isFloatingPointOperation();
      if (!staysNative(*atomic))
        toExpand.push_back(atomic);
    } else if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      type = exchange->getCompareOperand()->getType();
      exchange->setSyncScopeID(scopeFor(llvmContext, exchange->getSyncScopeID()));
    } else if (auto *fence = llvm::dyn_cast<llvm::FenceInst>(&instruction)) {
      fence->setSyncScopeID(scopeFor(llvmContext, fence->getSyncScopeID()));
    }
    if (type)
      if (Status fits = checkWidth(instruction, type, context.manifest); !fits)
        return fits;
  }
  for (llvm::AtomicRMWInst *atomic : toExpand)
    llvm::expandAtomicRMWToCmpXchg(atomic, createCompareExchange);
  return {};
}

const Pass map_atomics{"map_atomics", "atomics that OpenCL lacks become compare-and-swap loops", run};

} // namespace opsight::lower::spirv
