// What the lanes of a warp hold, as far as it is known before the program runs. Most addresses are the same for all
// threads but for a constant that belongs to the lane (`row * 64 + threadIdx.x % 16`): such a value is one scalar and a
// constant vector, and a load from it needs no gather.
#pragma once
#include "lower/warp/divergence.h"
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instructions.h>

namespace opsight::lower::warp {

/// Lane l of a value holds `base + offsets[l]`, modulo 2^width (pointers: bytes). The base is a scalar that the
/// instruction itself gives when every operand is replaced by its base; that of the lane is 0.
struct Shape {
  enum Kind { Uniform, Pattern, Varying } kind = Varying;
  llvm::SmallVector<int64_t, 32> offsets{}; // Pattern only
  unsigned trailingZeros = 0;               // of the base, at least

  bool isUniform() const { return kind == Uniform; }
  bool isPattern() const { return kind == Pattern; }
  bool isVarying() const { return kind == Varying; }
  /// Whether base and offset have no bit in common, so that no addition carries, let alone wraps.
  bool isDisjoint() const;
  /// Whether the lanes lie side by side, `bytes` apart.
  bool isConsecutive(uint64_t bytes) const;
};

/// Lanes first … first + count - 1 read elements side by side (step 1) or all the same one (step 0).
struct Run {
  unsigned first, count;
  int64_t offset;
  unsigned step;
};
constexpr unsigned mostRuns = 4; // beyond, loading piece by piece is longer than a gather
llvm::SmallVector<Run> runsOf(llvm::ArrayRef<int64_t> offsets, uint64_t bytes);

class Shapes {
public:
  Shapes(llvm::Function &kernel, unsigned lanes, llvm::UniformityInfo &uniformity, const llvm::LoopInfo &loops);
  /// Constants and arguments are uniform.
  Shape of(const llvm::Value *value) const;

private:
  Shape derive(const llvm::Instruction &instruction) const;
  Shape binary(const llvm::BinaryOperator &operation) const;
  Shape shifted(const llvm::BinaryOperator &operation) const;
  Shape cast(const llvm::CastInst &cast) const;
  Shape element(const llvm::GetElementPtrInst &address) const;
  Shape joined(const llvm::PHINode &phi) const;
  Shape compared(const llvm::ICmpInst &comparison) const;
  Shape selected(const llvm::SelectInst &select) const;
  Shape pattern(llvm::SmallVector<int64_t, 32> offsets, unsigned width, unsigned trailingZeros) const;
  unsigned zerosOf(const llvm::Value *value) const;

  unsigned lanes;
  const llvm::DataLayout &layout;
  const llvm::LoopInfo &loops;
  llvm::DenseSet<const llvm::BasicBlock *> commonJoins; // all threads come to them the same way
  llvm::DenseMap<const llvm::Value *, Shape> shapes; // of what is not uniform, once it is known
  llvm::DenseSet<const llvm::Value *> pending; // what nothing is known of yet
};

} // namespace opsight::lower::warp
