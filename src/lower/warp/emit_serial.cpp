// What has no vector form runs for one thread after another: atomics, calls of library functions, odd types. The lanes'
// operands wait in memory; a loop visits those that are there, lowest first.
#include "lower/native/passes.h"
#include "lower/warp/emitter.h"
#include <llvm/Transforms/Utils/LowerAtomic.h>

namespace opsight::lower::warp {

using llvm::Value;

namespace {
/// The loop over the lanes of a mask, with the builder inside it.
struct LaneLoop {
  LaneLoop(Emitter &emitter, Value *mask) : emitter(emitter) {
    llvm::IRBuilder<> &b = emitter.b;
    llvm::BasicBlock *from = b.GetInsertBlock();
    Value *all = emitter.bits(mask);
    body = emitter.newBlock("each.thread");
    after = emitter.newBlock("threads.done");
    // Someone is there: regions that nobody enters are jumped over.
    b.CreateBr(body);
    b.SetInsertPoint(body);
    bits = b.CreatePHI(all->getType(), 2, "waiting");
    bits->addIncoming(all, from);
    lane = b.CreateZExtOrTrunc(b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b.getInt1(true)), b.getInt64Ty(), "lane");
  }
  void close() {
    llvm::IRBuilder<> &b = emitter.b;
    Value *rest = b.CreateAnd(bits, b.CreateSub(bits, llvm::ConstantInt::get(bits->getType(), 1)));
    bits->addIncoming(rest, b.GetInsertBlock());
    b.CreateCondBr(b.CreateIsNull(rest), after, body);
    b.SetInsertPoint(after);
  }
  Emitter &emitter;
  llvm::BasicBlock *body, *after;
  llvm::PHINode *bits;
  Value *lane;
};
} // namespace

/// In memory i1 lanes are bytes, so that each can be addressed.
static llvm::Type *storedType(llvm::Type *type) {
  return type->isIntegerTy(1) ? llvm::Type::getInt8Ty(type->getContext()) : type;
}

static Value *keep(Emitter &emitter, Value *lanes) {
  llvm::Type *element = storedType(lanes->getType()->getScalarType());
  if (element != lanes->getType()->getScalarType())
    lanes = emitter.b.CreateZExt(lanes, emitter.widened(element));
  llvm::AllocaInst *slot = emitter.slot(lanes->getType());
  emitter.b.CreateStore(lanes, slot);
  return slot;
}

static Value *ofLane(Emitter &emitter, Value *slot, llvm::Type *type, Value *lane) {
  llvm::Type *element = storedType(type);
  Value *value = emitter.b.CreateLoad(element, emitter.b.CreateInBoundsGEP(element, slot, lane));
  return element == type ? value : emitter.b.CreateTrunc(value, type);
}

// No other block sees shared memory, and the warps of a block take turns: an atomic operation there is a plain one.
static Value *plainAtomic(Emitter &emitter, llvm::AtomicRMWInst &atomic, Value *pointer, Value *operand) {
  llvm::IRBuilder<> &b = emitter.b;
  Value *old = b.CreateAlignedLoad(atomic.getType(), pointer, atomic.getAlign());
  Value *fresh = llvm::buildAtomicRMWValue(atomic.getOperation(), b, old, operand);
  b.CreateAlignedStore(fresh, pointer, atomic.getAlign());
  return old;
}

static bool isShared(const Value *pointer) { return pointer->getType()->getPointerAddressSpace() == native::sharedSpace; }

/// The instruction for one thread, whose operands are `operands`.
static Value *forOne(Emitter &emitter, llvm::Instruction &instruction, llvm::ArrayRef<Value *> operands) {
  llvm::IRBuilder<> &b = emitter.b;
  if (auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction); atomic && isShared(atomic->getPointerOperand()))
    return plainAtomic(emitter, *atomic, operands[0], operands[1]);
  llvm::Instruction *clone = instruction.clone();
  for (size_t i = 0; i < operands.size(); ++i)
    clone->setOperand(unsigned(i), operands[i]);
  return b.Insert(clone);
}

Status Emitter::serial(llvm::Instruction &instruction, Value *mask) {
  size_t count = instruction.getNumOperands();
  auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call)
    count = call->arg_size();
  auto isLaneWise = [&](Value *operand) { return !shape(operand).isUniform(); };
  llvm::SmallVector<llvm::SmallVector<Value *, 4>> slots(count); // one, or one a part
  for (size_t i = 0; i < count; ++i) {
    Value *operand = instruction.getOperand(unsigned(i));
    if (!isLaneWise(operand))
      continue;
    bool whole = !operand->getType()->isVectorTy() && !operand->getType()->isAggregateType();
    for (Value *part : whole ? Values{vector(operand)} : parts(operand))
      slots[i].push_back(keep(*this, part));
  }
  llvm::Type *type = instruction.getType();
  bool split = type->isStructTy() || type->isVectorTy();
  unsigned results = type->isVoidTy() || instruction.use_empty() ? 0 : type->isStructTy() ? type->getStructNumElements()
                     : type->isVectorTy() ? llvm::cast<llvm::FixedVectorType>(type)->getNumElements() : 1;
  auto partType = [&](unsigned i) { return type->isStructTy() ? type->getStructElementType(i) : type->getScalarType(); };
  llvm::SmallVector<Value *> homes;
  for (unsigned i = 0; i < results; ++i)
    homes.push_back(slot(widened(storedType(partType(i)))));

  LaneLoop loop(*this, mask);
  llvm::SmallVector<Value *> operands;
  for (size_t i = 0; i < count; ++i) {
    Value *operand = instruction.getOperand(unsigned(i));
    llvm::Type *operandType = operand->getType();
    if (!isLaneWise(operand)) {
      operands.push_back(scalar(operand));
    } else if (operandType->isVectorTy()) {
      Value *joined = llvm::PoisonValue::get(operandType);
      for (size_t part = 0; part < slots[i].size(); ++part)
        joined = b.CreateInsertElement(joined, ofLane(*this, slots[i][part], operandType->getScalarType(), loop.lane), part);
      operands.push_back(joined);
    } else if (operandType->isStructTy()) {
      Value *joined = llvm::PoisonValue::get(operandType);
      for (unsigned part = 0; part < slots[i].size(); ++part)
        joined = b.CreateInsertValue(joined, ofLane(*this, slots[i][part], operandType->getStructElementType(part), loop.lane), part);
      operands.push_back(joined);
    } else {
      operands.push_back(ofLane(*this, slots[i][0], operandType, loop.lane));
    }
  }
  Value *result = forOne(*this, instruction, operands);
  for (unsigned i = 0; i < results; ++i) {
    Value *part = !split ? result : type->isStructTy() ? b.CreateExtractValue(result, i) : b.CreateExtractElement(result, i);
    llvm::Type *element = storedType(partType(i));
    b.CreateStore(b.CreateZExtOrBitCast(part, element), b.CreateInBoundsGEP(element, homes[i], loop.lane));
  }
  loop.close();
  Values values;
  for (unsigned i = 0; i < results; ++i) {
    Value *lanesOf = b.CreateLoad(widened(storedType(partType(i))), homes[i]);
    values.push_back(b.CreateTruncOrBitCast(lanesOf, widened(partType(i))));
  }
  if (split && results)
    defineParts(&instruction, values);
  else if (results)
    define(&instruction, values[0]);
  return {};
}

} // namespace opsight::lower::warp
