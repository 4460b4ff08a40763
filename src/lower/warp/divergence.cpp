// See divergence.h.
#include "lower/warp/divergence.h"
#include "cuda/matrix.h"
#include "lower/spirv/warp_operations.h"
#include "lower/warp/passes.h"
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace opsight::lower::warp {

using Uniformity = llvm::InstructionUniformity;
using spirv::asWarpOperation, spirv::WarpKind, spirv::WarpOperation;

bool isLane(const llvm::Value &value) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&value);
  return call && (call->getIntrinsicID() == llvm::Intrinsic::nvvm_read_ptx_sreg_laneid ||
                  call->getIntrinsicID() == llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
}

llvm::Value *createLane(llvm::IRBuilderBase &b, unsigned lanes) {
  // LLVM knows that the one is below 32; of the other, `thread_indices` has left none.
  bool isLong = lanes > 32;
  auto *lane = b.CreateIntrinsic(
      b.getInt32Ty(), isLong ? llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x : llvm::Intrinsic::nvvm_read_ptx_sreg_laneid, {});
  lane->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, lanes)));
  return lane;
}

bool isFullQuestion(const llvm::Value &value) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(&value);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == fullName;
}

static std::optional<WarpOperation> asOperation(const llvm::Value *value) {
  auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
  return instruction ? asWarpOperation(*const_cast<llvm::Instruction *>(instruction)) : std::nullopt;
}

bool isUniformMask(const llvm::Value *mask) {
  if (llvm::isa<llvm::Constant>(mask) || llvm::isa<llvm::Argument>(mask))
    return true;
  auto operation = asOperation(mask);
  return operation && (operation->kind == WarpKind::ActiveMask ||
                       (operation->kind == WarpKind::Ballot && isUniformMask(operation->mask)));
}

static Uniformity ofOperation(const WarpOperation &operation) {
  switch (operation.kind) {
  case WarpKind::ActiveMask:
    return Uniformity::AlwaysUniform;
  case WarpKind::Sync:
    return Uniformity::Default;
  case WarpKind::ShuffleIndex: {
    auto *clamp = llvm::dyn_cast<llvm::ConstantInt>(operation.clamp);
    bool readsOne = llvm::isa<llvm::Constant>(operation.lane) && clamp && clamp->getZExtValue() == 31;
    return readsOne ? Uniformity::AlwaysUniform : Uniformity::NeverUniform;
  }
  case WarpKind::ShuffleUp:
  case WarpKind::ShuffleDown:
  case WarpKind::ShuffleXor:
  case WarpKind::MatchAny:
  case WarpKind::MatchAll:
    return Uniformity::NeverUniform;
  default: // votes and reductions: one answer for all whom the mask names
    return isUniformMask(operation.mask) ? Uniformity::AlwaysUniform : Uniformity::NeverUniform;
  }
}

namespace {
class WarpCosts final : public llvm::TargetTransformInfoImplCRTPBase<WarpCosts> {
  using Base = llvm::TargetTransformInfoImplCRTPBase<WarpCosts>;

public:
  explicit WarpCosts(const llvm::DataLayout &layout) : Base(layout) {}
  bool hasBranchDivergence(const llvm::Function *) const override { return true; }
  Uniformity getInstructionUniformity(const llvm::Value *value) const override {
    auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (!instruction)
      return Uniformity::Default;
    if (instruction->getMetadata(uniformMark))
      return Uniformity::AlwaysUniform;
    if (llvm::isa<llvm::AtomicRMWInst>(instruction) || llvm::isa<llvm::AtomicCmpXchgInst>(instruction))
      return Uniformity::NeverUniform;
    if (isLane(*instruction))
      return Uniformity::NeverUniform;
    if (spirv::isBarrier(*instruction) || isFullQuestion(*instruction))
      return Uniformity::AlwaysUniform;
    if (cuda::asMatrixProduct(*instruction) || cuda::asMatrixLoad(*instruction))
      return Uniformity::NeverUniform;
    auto operation = asOperation(instruction);
    return operation ? ofOperation(*operation) : Uniformity::Default;
  }
};
} // namespace

namespace {
/// What is common to a vector need not be to the block.
class BlockCosts final : public llvm::TargetTransformInfoImplCRTPBase<BlockCosts> {
  using Base = llvm::TargetTransformInfoImplCRTPBase<BlockCosts>;

public:
  explicit BlockCosts(const llvm::DataLayout &layout) : Base(layout) {}
  bool hasBranchDivergence(const llvm::Function *) const override { return true; }
  Uniformity getInstructionUniformity(const llvm::Value *value) const override {
    if (auto *argument = llvm::dyn_cast<llvm::Argument>(value))
      return argument->getName() == warpName ? Uniformity::NeverUniform : Uniformity::Default;
    auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (!instruction || spirv::isBarrier(*instruction)) // a vote of the block is
      return instruction ? Uniformity::AlwaysUniform : Uniformity::Default;
    bool isOwn = isLane(*instruction) || isFullQuestion(*instruction) || asOperation(instruction);
    // Calls may answer each thread for itself, and a thread's own memory is at the same address for all.
    auto *load = llvm::dyn_cast<llvm::LoadInst>(instruction);
    bool isOwnMemory = load && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(load->getPointerOperand()));
    bool isOpaque = instruction->mayWriteToMemory() || llvm::isa<llvm::AllocaInst>(instruction);
    return isOwn || isOwnMemory || isOpaque ? Uniformity::NeverUniform : Uniformity::Default;
  }
};
} // namespace

BlockAnalyses::BlockAnalyses()
    : Analyses(llvm::TargetIRAnalysis([](const llvm::Function &function) {
        return llvm::TargetTransformInfo(std::make_unique<BlockCosts>(function.getDataLayout()));
      })) {}

WarpAnalyses::WarpAnalyses()
    : Analyses(llvm::TargetIRAnalysis([](const llvm::Function &function) {
        return llvm::TargetTransformInfo(std::make_unique<WarpCosts>(function.getDataLayout()));
      })) {}

} // namespace opsight::lower::warp
