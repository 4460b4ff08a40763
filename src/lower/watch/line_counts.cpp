// See line_counts.h.
#include "lower/watch/line_counts.h"
#include "cuda/matrix.h"
#include "lower/spirv/warp_operations.h"
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace opsight::lower::watch {

using llvm::Instruction;

static bool isFree(const Instruction &instruction) {
  if (llvm::isa<llvm::PHINode>(instruction) || llvm::isa<llvm::AllocaInst>(instruction) ||
      llvm::isa<llvm::FreezeInst>(instruction))
    return true;
  if (auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction))
    return cast->isNoopCast(instruction.getDataLayout()) || llvm::isa<llvm::AddrSpaceCastInst>(cast);
  if (instruction.isTerminator())
    return instruction.getNumSuccessors() < 2; // a fall through or a return
  auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return intrinsic && (intrinsic->isAssumeLikeIntrinsic() || intrinsic->isLifetimeStartOrEnd());
}

static unsigned width(const llvm::Type *type) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

static void countCall(const llvm::CallInst &call, card::LineCounts &into) {
  unsigned lanes = width(call.getType());
  if (auto product = cuda::asMatrixProduct(call)) { // a thread's share of 16 × 8 sums
    (product->sum == cuda::MatrixSum::Int ? into.integers : into.flops) += 2 * 16 * 8 * product->depth / 32;
    return;
  }
  if (cuda::asMatrixLoad(call)) {
    ++into.loads;
    return;
  }
  if (!call.getType()->isFPOrFPVectorTy()) {
    into.integers += lanes;
    return;
  }
  switch (call.getIntrinsicID()) {
  case llvm::Intrinsic::fma:
  case llvm::Intrinsic::fmuladd:
    into.flops += 2 * lanes;
    return;
  case llvm::Intrinsic::fabs:
  case llvm::Intrinsic::copysign:
    return;
  case llvm::Intrinsic::minnum:
  case llvm::Intrinsic::maxnum:
    into.flops += lanes;
    return;
  default: // a function of mathematics, or a value that is exchanged
    if (!call.getCalledFunction() || !call.getCalledFunction()->getName().starts_with("llvm.nvvm.shfl"))
      into.flops += lanes, into.specials += lanes;
  }
}

static void count(const Instruction &instruction, card::LineCounts &into) {
  unsigned lanes = width(instruction.getType());
  ++into.instructions;
  switch (instruction.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
    into.flops += lanes;
    return;
  case Instruction::FDiv:
  case Instruction::FRem:
    into.flops += lanes, into.specials += lanes;
    return;
  case Instruction::FNeg:
  case Instruction::FCmp:
    return;
  case Instruction::Load:
    ++into.loads;
    return;
  case Instruction::Store:
    ++into.stores;
    return;
  case Instruction::AtomicRMW:
  case Instruction::AtomicCmpXchg:
    ++into.atomics;
    return;
  case Instruction::Br:
  case Instruction::Switch:
    ++into.branches;
    return;
  case Instruction::Call:
    countCall(llvm::cast<llvm::CallInst>(instruction), into);
    return;
  default:
    if (instruction.getType()->isIntOrIntVectorTy() || instruction.getType()->isPtrOrPtrVectorTy())
      into.integers += lanes;
  }
}

std::vector<card::LineCounts> countLines(const llvm::BasicBlock &block) {
  std::vector<card::LineCounts> lines;
  for (const Instruction &instruction : block) {
    if (isFree(instruction))
      continue;
    SourcePlace where = placeOf(instruction);
    where.column = 0;
    auto same = [&](const card::LineCounts &line) {
      return line.where.line == where.line && line.where.file == where.file;
    };
    auto found = llvm::find_if(lines, same);
    if (found == lines.end())
      found = lines.insert(lines.end(), card::LineCounts{.where = where});
    count(instruction, *found);
  }
  return lines;
}

} // namespace opsight::lower::watch
