#include "lower/spirv/plain_calls.h"
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace opsight::lower::spirv {

namespace {

/// The same for all threads of a block.
bool isOfBlock(llvm::Intrinsic::ID id) {
  using namespace llvm;
  constexpr Intrinsic::ID all[] = {Intrinsic::nvvm_read_ptx_sreg_ctaid_x,  Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                   Intrinsic::nvvm_read_ptx_sreg_ctaid_z,  Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
                                   Intrinsic::nvvm_read_ptx_sreg_nctaid_y, Intrinsic::nvvm_read_ptx_sreg_nctaid_z,
                                   Intrinsic::nvvm_read_ptx_sreg_ntid_x,   Intrinsic::nvvm_read_ptx_sreg_ntid_y,
                                   Intrinsic::nvvm_read_ptx_sreg_ntid_z};
  return is_contained(all, id);
}

bool isPlain(const llvm::IntrinsicInst &call) {
  if (isOfBlock(call.getIntrinsicID()))
    return true;
  return !call.getCalledFunction()->getName().starts_with("llvm.nvvm.") && call.doesNotAccessMemory() &&
         !call.isConvergent();
}

bool isWord(const llvm::Type *type) { return type->isIntegerTy() || type->isFloatingPointTy(); }

/// Instructions before `call` whose last differs between threads only where an operand does.
class Instead {
public:
  explicit Instead(llvm::CallInst &call) : call(call) {}

  void make() {
    llvm::Type *wide = llvm::Type::getInt64Ty(call.getContext());
    llvm::Value *all = llvm::ConstantInt::get(wide, 0);
    for (llvm::Value *operand : call.args())
      if (!llvm::isa<llvm::Constant>(operand) && isWord(operand->getType()))
        all = add(llvm::BinaryOperator::CreateXor(all, resized(bits(operand), wide)));
    // Of constants alone: something that is no constant, which could not be told from others when the call returns.
    all = add(new llvm::FreezeInst(all));
    llvm::Type *type = call.getType();
    llvm::Value *value = resized(
        all, llvm::IntegerType::get(call.getContext(), unsigned(type->getPrimitiveSizeInBits().getFixedValue())));
    if (value->getType() != type)
      add(new llvm::BitCastInst(value, type));
  }
  llvm::SmallVector<llvm::Instruction *, 4> made;

private:
  llvm::CallInst &call;

  llvm::Value *add(llvm::Instruction *instruction) {
    instruction->insertBefore(call.getIterator());
    made.push_back(instruction);
    return instruction;
  }
  llvm::Value *bits(llvm::Value *value) {
    llvm::Type *type = value->getType();
    if (type->isIntegerTy())
      return value;
    return add(new llvm::BitCastInst(
        value, llvm::IntegerType::get(call.getContext(), unsigned(type->getPrimitiveSizeInBits().getFixedValue()))));
  }
  llvm::Value *resized(llvm::Value *value, llvm::Type *type) {
    unsigned from = value->getType()->getIntegerBitWidth(), to = type->getIntegerBitWidth();
    if (from == to)
      return value;
    return add(from < to ? static_cast<llvm::Instruction *>(new llvm::ZExtInst(value, type))
                         : new llvm::TruncInst(value, type));
  }
};

} // namespace

PlainCalls::PlainCalls(llvm::Function &kernel) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(kernel))) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    bool fits = call && !call->use_empty() && isPlain(*call) && isWord(call->getType()) &&
                llvm::all_of(call->args(), [](const llvm::Use &use) { return isWord(use->getType()); });
    if (!fits)
      continue;
    Instead instead(*call);
    instead.make();
    call->replaceAllUsesWith(instead.made.back());
    replaced.push_back({call, std::move(instead.made)});
  }
}

PlainCalls::~PlainCalls() {
  for (Replaced &each : replaced)
    each.instead.back()->replaceAllUsesWith(each.call);
  for (Replaced &each : replaced)
    for (llvm::Instruction *instruction : llvm::reverse(each.instead))
      instruction->eraseFromParent();
}

} // namespace opsight::lower::spirv
