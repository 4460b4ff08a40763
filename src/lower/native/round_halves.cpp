// round_halves: a double rounded to half, and a fused half sum, on processors that have no instruction for them (all
// before AVX512-FP16). LLVM would call a function of the compiler's own library, which neither libm nor libc has, and
// would round a product and its sum twice, because it does each in float.
#include "lower/half_bits.h"
#include "lower/multiply_add.h"
#include "lower/native/host.h"
#include "lower/native/passes.h"
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/MC/MCSubtargetInfo.h>

namespace opsight::lower::native {

using llvm::IRBuilderBase, llvm::Value;

/// Null for what LLVM makes of instructions itself: the rest goes through float, and converting that is F16C.
static Value *rounded(IRBuilderBase &b, llvm::Instruction &instruction) {
  llvm::Type *type = instruction.getType();
  if (!type->getScalarType()->isHalfTy())
    return nullptr;
  auto bits = [&](unsigned operand) {
    return b.CreateBitCast(instruction.getOperand(operand), type->getWithNewType(b.getInt16Ty()));
  };
  if (llvm::isa<llvm::FPTruncInst>(instruction) && instruction.getOperand(0)->getType()->getScalarType()->isDoubleTy())
    return roundToHalf(b, instruction.getOperand(0));
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  bool fused = call && (call->getIntrinsicID() == llvm::Intrinsic::fma || call->getIntrinsicID() == llvm::Intrinsic::fmuladd);
  return fused ? fuseHalves(b, bits(0), bits(1), bits(2)) : nullptr;
}

static Status run(Context &context) {
  auto machine = targetMachine(context.target.processor);
  if (!machine)
    return std::unexpected(machine.error());
  if ((*machine)->getMCSubtargetInfo()->checkFeatures("+avx512fp16"))
    return {};
  fuseMultiplyAdds(*context.kernel, [](const llvm::Type *type) { return type->getScalarType()->isHalfTy(); });
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel))) {
    llvm::IRBuilder<> builder(&instruction);
    if (Value *bits = rounded(builder, instruction)) {
      instruction.replaceAllUsesWith(builder.CreateBitCast(bits, instruction.getType()));
      instruction.eraseFromParent();
    }
  }
  return {};
}

const Pass round_halves{"round_halves", "halves that the processor cannot round go by integers and floats", run};

} // namespace opsight::lower::native
