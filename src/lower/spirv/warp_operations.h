// CUDA's warp operations as data: which they are in the IR, and how each finds its result once every lane's word can be
// read: from an array in shared memory, or by subgroup shuffles.
#pragma once
#include "lower/spirv/passes.h"
#include <llvm/ADT/STLFunctionalExtras.h>
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
/// All of `kernel`, in the order of its code.
llvm::SmallVector<WarpOperation> findWarpOperations(llvm::Function &kernel);
/// True for __syncthreads() and its voting forms.
bool isBlockBarrier(const llvm::Instruction &instruction);
/// True for this_grid().sync().
bool isGridBarrier(const llvm::Instruction &instruction);
inline bool isBarrier(const llvm::Instruction &instruction) {
  return isBlockBarrier(instruction) || isGridBarrier(instruction);
}
/// Whether anything in `module` waits for the whole grid.
bool hasGridBarrier(const llvm::Module &module);

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
/// Emits the reading of one lane's word.
using ReadLane = llvm::function_ref<llvm::Value *(unsigned lane)>;
/// What an operation other than a shuffle gives, from the words of the lanes in `mask`.
llvm::Value *combineLanes(llvm::IRBuilderBase &builder, WarpKind kind, ReadLane read, llvm::Value *mask, llvm::Value *own);
/// `words[base + lane]` of an array in shared memory to which every lane has written.
llvm::Value *wordOfLane(llvm::IRBuilderBase &builder, llvm::GlobalVariable *words, const WarpView &view, unsigned lane);
/// `words[index]` of an array in shared memory.
llvm::Value *wordAddress(llvm::IRBuilderBase &builder, llvm::GlobalVariable *words, llvm::Value *index);
/// 32 bits as the type that the operation's call has.
llvm::Value *asResult(llvm::IRBuilderBase &builder, const WarpOperation &operation, llvm::Value *word);

} // namespace opsight::lower::spirv
