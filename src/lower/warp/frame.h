// What a warp keeps while it waits at a barrier: which values are needed behind it, which of them are made anew rather
// than kept, and where in the warp's frame the others lie.
#pragma once
#include "lower/warp/passes.h"
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instructions.h>

namespace opsight::lower::warp {

/// A barrier, once its block is split: `leaves` runs up to it, `resumes` is where the warp goes on. The edge between
/// them is cut by `suspend`.
struct Suspension {
  llvm::BasicBlock *leaves, *resumes;
  unsigned place;
  BarrierKind kind;
  llvm::SmallVector<llvm::Instruction *> kept;   // across this barrier, in the frame
  llvm::SmallVector<llvm::Instruction *> remade; // behind it, out of what is there; operands before their users
};

/// The frame's first words: the barrier at which the warp waits (0: none yet), and what it adds to the block's vote.
inline constexpr uint64_t stateOffset = 0, contributionOffset = 4, frameHeader = 8;
/// Of slots, at most; wider vectors are read and written in pieces anyway.
inline constexpr uint64_t frameAlignment = 64;

/// Offsets in the frame. Two values share bytes where no barrier needs both; allocas share with none.
struct FrameLayout {
  llvm::DenseMap<const llvm::Instruction *, uint64_t> offsets;
  uint64_t bytes = 0, alignment = frameAlignment; // bytes: a multiple of the alignment
};

/// Fills in `kept` and `remade`: what is live where each suspension resumes. Allocas of the entry block count as there.
void chooseKept(llvm::Function &kernel, llvm::MutableArrayRef<Suspension> suspensions);

FrameLayout layOutFrame(llvm::ArrayRef<Suspension> suspensions, llvm::ArrayRef<llvm::AllocaInst *> allocas);

/// Where kept values are stored. A value that the frame holds already, from where the warp resumed, is not stored again;
/// where ways meet of which only some come from there, it is stored on the others, once.
struct Stores {
  llvm::SmallVector<llvm::SmallVector<llvm::Instruction *>> atSuspension; // for each, of its `kept`
  using Edge = std::pair<llvm::BasicBlock *, llvm::BasicBlock *>;
  llvm::MapVector<Edge, llvm::SmallVector<llvm::Instruction *>> onEdges;
};
Stores chooseStores(llvm::Function &kernel, llvm::ArrayRef<Suspension> suspensions);

} // namespace opsight::lower::warp
