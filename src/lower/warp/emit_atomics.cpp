// Atomic operations on shared memory. No other block sees it, and the warps of a block take turns, so each is a plain
// load, operation and store: of a whole vector where the lanes' constants say that no two threads meet, else of one
// thread after another, as threads of one warp may name the same word.
#include "lower/native/passes.h"
#include "lower/warp/emitter.h"
#include <llvm/Transforms/Utils/LowerAtomic.h>

namespace opsight::lower::warp {

using llvm::Value;

// All at once: the lanes lie side by side.
static Value *asVector(Emitter &emitter, llvm::AtomicRMWInst &atomic, Value *mask) {
  llvm::IRBuilder<> &b = emitter.b;
  Value *pointer = atomic.getPointerOperand();
  int64_t first = emitter.shape(pointer).offsets[0];
  Value *place = b.CreateGEP(b.getInt8Ty(), emitter.scalar(pointer), b.getInt64(uint64_t(first)));
  llvm::Type *type = emitter.widened(atomic.getType());
  Value *old = mask ? static_cast<Value *>(b.CreateMaskedLoad(type, place, atomic.getAlign(), mask, llvm::PoisonValue::get(type)))
                    : b.CreateAlignedLoad(type, place, atomic.getAlign());
  Value *fresh = llvm::buildAtomicRMWValue(atomic.getOperation(), b, old, emitter.vector(atomic.getValOperand()));
  if (mask)
    b.CreateMaskedStore(fresh, place, atomic.getAlign(), mask);
  else
    b.CreateAlignedStore(fresh, place, atomic.getAlign());
  return old;
}

static Value *oneByOne(Emitter &emitter, llvm::AtomicRMWInst &atomic) {
  llvm::IRBuilder<> &b = emitter.b;
  Value *olds = llvm::PoisonValue::get(emitter.widened(atomic.getType()));
  for (unsigned lane = 0; lane < emitter.lanes; ++lane) {
    Value *pointer = emitter.atLane(atomic.getPointerOperand(), lane);
    Value *operand = emitter.atLane(atomic.getValOperand(), lane);
    Value *old = b.CreateAlignedLoad(atomic.getType(), pointer, atomic.getAlign());
    b.CreateAlignedStore(llvm::buildAtomicRMWValue(atomic.getOperation(), b, old, operand), pointer, atomic.getAlign());
    if (!atomic.use_empty())
      olds = b.CreateInsertElement(olds, old, uint64_t(lane));
  }
  return olds;
}

bool Emitter::sharedAtomic(llvm::AtomicRMWInst &atomic, Value *mask) {
  if (atomic.getPointerAddressSpace() != native::sharedSpace)
    return false;
  bool side = shape(atomic.getPointerOperand()).isConsecutive(warp.getDataLayout().getTypeStoreSize(atomic.getType()));
  if (!side && mask)
    return false; // `serial` visits those that are there
  define(&atomic, side ? asVector(*this, atomic, mask) : oneByOne(*this, atomic));
  return true;
}

} // namespace opsight::lower::warp
