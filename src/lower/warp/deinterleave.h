// Neighbouring elements of each thread, as whole vectors that follow each other in memory (raw), and as a vector an
// element (parts): lane l of part j is element l * parts + j of the raw vectors together.
#pragma once
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <optional>

namespace opsight::lower::warp {

using Vectors = llvm::SmallVector<llvm::Value *, 4>;

/// The parts of raw vectors, a power of two of them; every round parts the even from the odd, which is one permutation
/// of two registers.
Vectors deinterleave(llvm::IRBuilder<> &b, Vectors raw);
/// How many permutations that takes, in either direction.
unsigned permutationsOf(size_t parts);

/// One lane of what shuffles make: lane `lane` of `vector`.
struct Origin {
  llvm::Value *vector;
  int lane;
};

/// What `deinterleave` made of loads: which part `shuffle` is, and of what.
struct Part {
  Vectors raw;
  unsigned number;
};
std::optional<Part> asPartOfLoads(llvm::ShuffleVectorInst &shuffle);
/// The parts, of `lanes` lanes each, that `shuffle` puts back in the raw order, all in one vector.
std::optional<Vectors> interleavedBy(llvm::ShuffleVectorInst &shuffle, unsigned lanes);

} // namespace opsight::lower::warp
