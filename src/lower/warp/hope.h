// Addresses whose lanes lie side by side unless a 32-bit index wraps between two of them. Which it hardly ever does, but
// LLVM's passes drop the source's promise that it does not, and an unsigned index promises nothing. So it is asked when
// the access is made: a comparison of scalars in place of a gather.
#pragma once
#include "lower/warp/emitter.h"

namespace opsight::lower::warp {

struct Hope {
  llvm::Value *first; // where lane 0's element is, if the hope holds
  llvm::Value *holds; // i1
};

/// For a varying address. Emits the question at the builder's place; null if the lanes would not lie `bytes` apart.
std::optional<Hope> hopeOf(Emitter &emitter, llvm::Value *pointer, uint64_t bytes);

/// `base + extended index * stride + shift`, the index of 32 bits.
struct ExtendedIndex {
  llvm::Value *base;
  llvm::CastInst *index;
  uint64_t stride;
  int64_t shift;
};
std::optional<ExtendedIndex> extendedIndexOf(const Emitter &emitter, llvm::Value *pointer);
/// Emits where the element of `index`, a scalar, is, and whether an index `further` on does not wrap.
Hope askIfSideBySide(Emitter &emitter, const ExtendedIndex &address, llvm::Value *index, int64_t further);

/// Lanes that lie side by side group by group: a vector that holds several rows of a block's threads.
struct GroupHope {
  llvm::SmallVector<llvm::Value *, 4> firsts; // where each group's first element is, if the hope holds
  llvm::Value *holds;                         // i1
  unsigned group;                             // lanes
};
/// As hopeOf, for at most `mostRuns` groups.
std::optional<GroupHope> groupHopeOf(Emitter &emitter, llvm::Value *pointer, uint64_t bytes);

/// Two ways to do the same: what is emitted between construction and otherwise() runs where `condition` holds, what is
/// emitted then, up to close(), elsewhere.
class Fork {
public:
  Fork(Emitter &emitter, llvm::Value *condition);
  void otherwise();
  void close();
  /// The same, and `yes` becomes what the way taken has made.
  void close(Emitter::Values &yes, const Emitter::Values &no);

private:
  Emitter &emitter;
  llvm::BasicBlock *elsewhere, *after, *endOfFirst = nullptr, *endOfSecond = nullptr;
};

} // namespace opsight::lower::warp
