// Writes the warp's function from the thread's, one instruction after another; vectorise.cpp leads it through the
// blocks. What a thread computes becomes a scalar where all threads agree (or differ by a constant of the lane), else a
// vector of all lanes, computed under the mask of those that are there.
#pragma once
#include "cuda/matrix.h"
#include "lower/pass.h"
#include "lower/spirv/warp_operations.h"
#include "lower/warp/control.h"
#include "lower/warp/patterns.h"
#include "lower/watch/checker.h"
#include <llvm/IR/IRBuilder.h>

namespace opsight::lower::warp {

/// What every emitting file works with.
class Emitter {
public:
  Emitter(Context &context, llvm::Function &thread, llvm::Function &warp, const Shapes &shapes, unsigned lanes);

  using Values = llvm::SmallVector<llvm::Value *, 4>;

  /// Emits `instruction`, which is neither a phi nor a terminator, at the builder's place, for the threads of `mask`
  /// (null: all). Unsupported, with the place, for what no vector can do.
  Status emit(llvm::Instruction &instruction, llvm::Value *mask);

  /// The scalar of a uniform value, the base of a pattern.
  llvm::Value *scalar(llvm::Value *value);
  /// All lanes of a value.
  llvm::Value *vector(llvm::Value *value);
  /// What one lane holds.
  llvm::Value *atLane(llvm::Value *value, unsigned lane);
  /// All lanes of the elements of a value that is itself a vector or structure.
  Values parts(llvm::Value *value);
  void define(llvm::Value *old, llvm::Value *scalarOrVector);
  void defineParts(llvm::Value *old, Values values) { partsOf[old] = std::move(values); }

  Shape shape(const llvm::Value *value) const { return shapes.of(value); }
  llvm::Type *widened(llvm::Type *type) const { return llvm::VectorType::get(type, lanes, false); }
  /// The mask as an integer of one bit a lane.
  llvm::Value *bits(llvm::Value *mask);
  llvm::Value *fullMask() { return llvm::Constant::getAllOnesValue(widened(b.getInt1Ty())); }
  llvm::Value *both(llvm::Value *mask, llvm::Value *condition); // poison of absent threads does not get through
  llvm::Value *laneNumbers();
  /// The instruction on scalars: what a uniform value is, or the base of a pattern.
  llvm::Instruction *cloneScalar(llvm::Instruction &instruction, llvm::Value *mask);
  /// A fresh stack slot, in the entry block.
  llvm::AllocaInst *slot(llvm::Type *type);
  /// A block behind the current one, to which the builder moves; what follows goes there.
  llvm::BasicBlock *newBlock(const llvm::Twine &name);

  Context &context;
  llvm::Function &warp;
  const unsigned lanes;
  llvm::IRBuilder<> b;
  llvm::Value *living = nullptr; // where threads may return before a barrier: a slot with one bit a living thread
  llvm::Value *existing = nullptr; // the mask of the threads that the warp has; null: all

  // emit_memory.cpp
  Status load(llvm::LoadInst &load, llvm::Value *mask);
  Status store(llvm::StoreInst &store, llvm::Value *mask);
  // emit_warp.cpp
  Status warpOperation(const spirv::WarpOperation &operation, llvm::Value *mask);
  Status barrier(llvm::CallInst &call, llvm::Value *mask);
  void retire(llvm::CallInst &call, llvm::Value *mask);
  // emit_atomics.cpp; false where threads have to take turns under a mask
  bool sharedAtomic(llvm::AtomicRMWInst &atomic, llvm::Value *mask);
  // emit_matrix.cpp
  void matrixProduct(llvm::CallInst &call, const cuda::MatrixProduct &product);
  void matrixLoad(llvm::CallInst &call, const cuda::MatrixLoad &load, llvm::Value *mask);
  // emit_serial.cpp: one thread after another, for what has no vector form
  Status serial(llvm::Instruction &instruction, llvm::Value *mask);
  // emit_watch.cpp
  void publish(llvm::CallInst &call, watch::Say what, llvm::Value *mask);
  llvm::Value *inMemory(llvm::AllocaInst *&words, llvm::Value *values);
  // emit_check.cpp
  void check(llvm::CallInst &call, watch::Say what, llvm::Value *mask);

  llvm::AllocaInst *publishedAddresses = nullptr, *publishedValues = nullptr; // a watched kernel's, once it needs them

private:
  Status call(llvm::CallInst &call, llvm::Value *mask);
  llvm::Value *element(llvm::GetElementPtrInst &address);
  bool emitElementwise(llvm::Instruction &instruction);
  bool emitParts(llvm::Instruction &instruction);
  void recut(llvm::CastInst &cast);
  llvm::Value *someThreads(llvm::Value *value, llvm::Value *mask);

  const Shapes &shapes;
  llvm::DenseMap<const llvm::Value *, llvm::Value *> scalars, vectors;
  llvm::DenseMap<const llvm::Value *, Values> partsOf;
  std::optional<watch::Checker> checker; // of a kernel under checks, once it needs one
};

/// void retireName(i1 leaves): the threads for which `leaves` holds return without another effect (mark_returns).
inline constexpr const char *retireName = "opsight.retire";

} // namespace opsight::lower::warp
