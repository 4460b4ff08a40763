// counted_barriers: a barrier that names how many threads it waits for is one of the whole block where that many are in
// it, which is known by now; where only some of a block's threads are to meet, there is no counterpart.
#include "lower/spirv/passes.h"
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <optional>

namespace opsight::lower::spirv {

/// What `value` is in a block of that shape, if that decides it: a number, or products and sums of blockDim.
static std::optional<uint64_t> known(const llvm::Value *value, const card::Dim3 &block) {
  if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(value))
    return number->getZExtValue();
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(value))
    switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x:
      return block.x;
    case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y:
      return block.y;
    case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_z:
      return block.z;
    default:
      return std::nullopt;
    }
  auto *operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (!operation)
    return std::nullopt;
  auto left = known(operation->getOperand(0), block), right = known(operation->getOperand(1), block);
  if (!left || !right)
    return std::nullopt;
  switch (operation->getOpcode()) {
  case llvm::Instruction::Mul:
    return *left * *right;
  case llvm::Instruction::Add:
    return *left + *right;
  case llvm::Instruction::Shl:
    return *right < 32 ? std::optional(*left << *right) : std::nullopt;
  default:
    return std::nullopt;
  }
}

static Status run(Context &context) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel))) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call || call->getIntrinsicID() != llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_count)
      continue;
    if (known(call->getArgOperand(1), context.target.block) != context.target.block.count())
      return unsupported("a barrier of part of a block's threads", "let all threads of the block meet", placeOf(*call));
    llvm::IRBuilder<> b(call);
    b.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {call->getArgOperand(0)});
    call->eraseFromParent();
  }
  return {};
}

const Pass counted_barriers{"counted_barriers", "a barrier that counts all threads of the block is the block's", run};

} // namespace opsight::lower::spirv
