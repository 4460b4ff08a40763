// See hope.h.
#include "lower/warp/hope.h"
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/MDBuilder.h>

namespace opsight::lower::warp {

using llvm::Value;

std::optional<ExtendedIndex> extendedIndexOf(const Emitter &emitter, Value *pointer) {
  const llvm::DataLayout &layout = emitter.warp.getDataLayout();
  int64_t shift = 0;
  auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
  while (address) {
    llvm::APInt constant(layout.getIndexTypeSizeInBits(address->getType()), 0);
    if (!address->accumulateConstantOffset(layout, constant))
      break;
    shift += constant.getSExtValue();
    address = llvm::dyn_cast<llvm::GetElementPtrInst>(address->getPointerOperand());
  }
  if (!address || address->getNumIndices() != 1 || !emitter.shape(address->getPointerOperand()).isUniform())
    return std::nullopt;
  auto *index = llvm::dyn_cast<llvm::CastInst>(address->idx_begin()->get());
  bool extends = index && (llvm::isa<llvm::SExtInst>(index) || llvm::isa<llvm::ZExtInst>(index));
  if (!extends || !index->getSrcTy()->isIntegerTy(32) || !index->getDestTy()->isIntegerTy(64))
    return std::nullopt;
  return ExtendedIndex{address->getPointerOperand(), index, layout.getTypeAllocSize(address->getSourceElementType()),
                       shift};
}

Hope askIfSideBySide(Emitter &emitter, const ExtendedIndex &address, Value *index, int64_t further) {
  llvm::IRBuilder<> &b = emitter.b;
  bool isSigned = llvm::isa<llvm::SExtInst>(address.index);
  uint32_t top = (isSigned ? 0x7fffffffu : 0xffffffffu) - uint32_t(further);
  Value *holds = b.CreateICmp(isSigned ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE, index, b.getInt32(top));
  Value *wide = isSigned ? b.CreateSExt(index, b.getInt64Ty()) : b.CreateZExt(index, b.getInt64Ty());
  Value *distance = b.CreateAdd(b.CreateMul(wide, b.getInt64(address.stride)), b.getInt64(uint64_t(address.shift)));
  return {b.CreateGEP(b.getInt8Ty(), emitter.scalar(address.base), distance), holds};
}

std::optional<Hope> hopeOf(Emitter &emitter, Value *pointer, uint64_t bytes) {
  if (!emitter.shape(pointer).isVarying())
    return std::nullopt;
  auto address = extendedIndexOf(emitter, pointer);
  if (!address)
    return std::nullopt;
  Value *narrow = address->index->getOperand(0);
  Shape lanes = emitter.shape(narrow);
  if (!lanes.isPattern())
    return std::nullopt;
  int64_t first = lanes.offsets[0], last = lanes.offsets.back();
  for (int64_t &offset : lanes.offsets)
    offset *= int64_t(address->stride);
  if (!lanes.isConsecutive(bytes))
    return std::nullopt;
  llvm::IRBuilder<> &b = emitter.b;
  Value *lowest = b.CreateAdd(emitter.scalar(narrow), llvm::ConstantInt::getSigned(b.getInt32Ty(), first, true));
  return askIfSideBySide(emitter, *address, lowest, last - first);
}

Fork::Fork(Emitter &emitter, Value *condition) : emitter(emitter) {
  llvm::BasicBlock *hoped = emitter.newBlock("as.hoped");
  elsewhere = emitter.newBlock("wraps");
  after = emitter.newBlock("either");
  llvm::MDNode *likely = llvm::MDBuilder(emitter.b.getContext()).createLikelyBranchWeights();
  emitter.b.CreateCondBr(condition, hoped, elsewhere, likely);
  emitter.b.SetInsertPoint(hoped);
}

void Fork::otherwise() {
  endOfFirst = emitter.b.GetInsertBlock();
  emitter.b.CreateBr(after);
  emitter.b.SetInsertPoint(elsewhere);
}

void Fork::close() {
  endOfSecond = emitter.b.GetInsertBlock();
  emitter.b.CreateBr(after);
  emitter.b.SetInsertPoint(after);
}

void Fork::close(Emitter::Values &yes, const Emitter::Values &no) {
  close();
  for (size_t i = 0; i < yes.size(); ++i) {
    llvm::PHINode *either = emitter.b.CreatePHI(yes[i]->getType(), 2);
    either->addIncoming(yes[i], endOfFirst);
    either->addIncoming(no[i], endOfSecond);
    yes[i] = either;
  }
}

} // namespace opsight::lower::warp
