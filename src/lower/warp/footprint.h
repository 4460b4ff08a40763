// Which bytes of its block's memory an access may touch, vector by vector: what two vectors do on the two sides of a
// barrier needs no barrier where neither touches what the other does.
#pragma once
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Instructions.h>
#include <optional>

namespace opsight::lower::warp {

struct Footprint {
  /// Bytes [first, end) behind `root`.
  struct Bytes {
    int64_t first, end;
  };
  enum Place {
    Shared,  // of the block, at `byWarp`
    Outside, // not the block's shared memory
    Anywhere
  } place = Anywhere;
  const llvm::Argument *root = nullptr;
  llvm::SmallVector<Bytes, 16> byWarp; // of Shared, by the vector's number
  bool writes = true;
};

/// Of the kernels that `thread_indices` and `shared_memory` leave, before `vectorise`.
class Footprints {
public:
  Footprints(llvm::Function &kernel, unsigned warps, llvm::ScalarEvolution &evolution);

  /// None of an instruction that touches nothing but what is its thread's own, or what nobody changes.
  std::optional<Footprint> of(llvm::Instruction &instruction);

private:
  struct Address {
    const llvm::Value *root;
    const llvm::SCEV *offset;
  };
  Address addressOf(llvm::Value *pointer);
  Footprint::Bytes bytesOf(const llvm::SCEV *offset, unsigned warp, uint64_t size);

  llvm::Function &kernel_;
  unsigned warps_;
  llvm::ScalarEvolution &evolution_;
};

/// Whether two different vectors of a block, one at `a`, the other at `b`, may touch one place, and at least one of
/// them changes it.
bool mayMeet(const Footprint &a, const Footprint &b);

} // namespace opsight::lower::warp
