// CUDA's warp operations as data: which they are in the IR, and how each finds its result once every lane has put its
// value into an array that all lanes can read.
#pragma once
#include "lower/spirv/passes.h"
#include <llvm/IR/IRBuilder.h>
#include <optional>

namespace opsight::lower::spirv {

enum class WarpKind {
  ShuffleIndex, ShuffleUp, ShuffleDown, ShuffleXor,
  Ballot, Any, All, ActiveMask, Sync,
  ReduceAdd, ReduceMin, ReduceMax, ReduceUMin, ReduceUMax, ReduceAnd, ReduceOr, ReduceXor,
  MatchAny, MatchAll,
};

struct WarpOperation {
  llvm::CallInst *call = nullptr;
  WarpKind kind = WarpKind::Sync;
  llvm::Value *mask = nullptr;   // null for ActiveMask
  llvm::Value *value = nullptr;  // null where nothing is exchanged
  llvm::Value *lane = nullptr, *clamp = nullptr; // shuffles

  bool isShuffle() const { return kind <= WarpKind::ShuffleXor; }
};

/// The warp operation that `instruction` is, if it is one.
std::optional<WarpOperation> asWarpOperation(llvm::Instruction &instruction);
/// True for __syncthreads() and its voting forms.
bool isBlockBarrier(const llvm::Instruction &instruction);

/// Where one thread stands, and the words of its warp.
struct WarpView {
  llvm::Value *lane = nullptr;    // 0…31
  llvm::Value *base = nullptr;    // the thread number of the warp's lane 0
  llvm::Value *present = nullptr; // bit l: the block has a thread in lane l
};
WarpView createWarpView(llvm::IRBuilderBase &builder);

/// The 32 bits that a thread publishes for `operation`.
llvm::Value *publishedValue(llvm::IRBuilderBase &builder, const WarpOperation &operation);
/// The lane a shuffle reads, by PTX's rule for clamps and segments: its own where the wanted one is out of reach.
llvm::Value *sourceLane(llvm::IRBuilderBase &builder, const WarpOperation &operation, llvm::Value *lane);
/// What an operation other than a shuffle gives, from the 32 words at `words[base…]` of the lanes in `mask`.
llvm::Value *combineLanes(llvm::IRBuilderBase &builder, WarpKind kind, llvm::GlobalVariable *words, const WarpView &view,
                          llvm::Value *mask, llvm::Value *own);
/// `words[index]` of an array in shared memory.
llvm::Value *wordAddress(llvm::IRBuilderBase &builder, llvm::GlobalVariable *words, llvm::Value *index);
/// 32 bits as the type that the operation's call has.
llvm::Value *asResult(llvm::IRBuilderBase &builder, const WarpOperation &operation, llvm::Value *word);

} // namespace opsight::lower::spirv
