// Writes the exported entry of a kernel whose blocks have warps (warp_range.cpp), and, of one that waits for the whole
// grid, what differs there (grid_range.cpp).
#pragma once
#include "lower/native/entry.h"
#include "lower/warp/passes.h"

namespace opsight::lower::warp {

/// Where the warps of a round are taken from: `first`, then every `stride`th, modulo their number.
struct Order {
  llvm::Value *first, *stride;
};

/// One round over a block's warps, or all there is to do when the kernel has no barriers.
struct WarpLoop {
  llvm::BasicBlock *before, *head, *next; // `next` is where a warp's turn ends
  llvm::PHINode *count, *warp;
};

class RangeWriter {
public:
  RangeWriter(Context &context, native::Entry &entry, unsigned warps)
      : context_(context), entry_(entry), b_(entry.b), warps_(warps), frame_(entry.value(frameName)) {}
  void write();

protected:
  void makeStrides();
  void prepareMessages();
  void returnIfUnmet();
  void runWarps(llvm::Value *block);
  /// No warp waits anywhere yet.
  void startWarps();
  /// Lets the block's warps go on until all have finished, which gives 0, or wait for the whole grid, which gives what
  /// the kernel returned there.
  llvm::Value *runRounds(llvm::Value *block, llvm::Value *firstRound);
  /// Records what happened and ends the range. `returned` are the kernel's results that the format's places come from;
  /// the block's numbers follow them, and the warp's where it is one warp's fault.
  void writeFault(llvm::BasicBlock *block, const std::string &format, llvm::ArrayRef<llvm::Value *> returned,
                  bool ofWarp = true);
  /// The number behind a place's in what the kernel returned: `place` or, where it may wait for the grid, without the
  /// mark.
  llvm::Value *placeIn(llvm::Value *returned);

  bool isGrid() const { return entry_.body->hasFnAttribute(gridAttribute); }
  uint64_t frameBytes() const { return frameArgument()->getDereferenceableBytes(); }
  uint64_t frameAlignment() const { return frameArgument()->getParamAlign().valueOrOne().value(); }
  /// Of the kernel's own arrays, and of what passes lay down behind them.
  uint64_t staticBytes() const {
    uint64_t own = context_.manifest.staticSharedBytes, more = context_.scratchBytes;
    return std::max<uint64_t>(more ? llvm::alignTo(own, scratchAlignment) + more : own, 1);
  }

  Context &context_;
  native::Entry &entry_;
  llvm::IRBuilder<> &b_;
  unsigned warps_;
  llvm::Value **frame_; // among the entry's values; null: the kernel never suspends
  llvm::Value *frames_ = nullptr, *message_ = nullptr;

private:
  llvm::Value *frameOf(llvm::Value *warp);
  Order orderOf(llvm::Value *block, llvm::Value *round);
  WarpLoop openLoop(const Order &order);
  void closeLoop(const WarpLoop &loop, const Order &order, llvm::BasicBlock *exit);
  void leaveRounds(llvm::Value *at, llvm::Value *ended, llvm::BasicBlock *head, llvm::BasicBlock *done);
  bool votes() const { return !entry_.body->getArg(unsigned(entry_.body->arg_size() - 1))->use_empty(); }
  llvm::Argument *frameArgument() const { return entry_.body->getArg(unsigned(entry_.body->arg_size() - 2)); }

  llvm::Value *strides_ = nullptr;
  uint32_t firstPlace_ = 0, strideCount_ = 0; // of the places' formats; of `strides_`
};

/// The entry of a kernel that waits for the whole grid (card/cpu/abi.h): every block of the range runs until it has
/// finished or waits; then the range's call meets those of the others.
class GridWriter : public RangeWriter {
public:
  using RangeWriter::RangeWriter;
  void write();

private:
  void readLaunch();
  void enterBlock(llvm::Value *position);
  void nameBlock(llvm::Value *position);
  llvm::Value *positionOf(llvm::Value *turn, llvm::Value *phase);
  void startBlocks();
  llvm::Value *runPhase(llvm::Value *phase);
  void meet(llvm::Value *state, llvm::BasicBlock *goOn, llvm::BasicBlock *done);
  void reportParted(llvm::Value *at, llvm::Value *others, llvm::Value *returned);
  void leaveIf(llvm::Value *condition);
  void leaveIfAsserted();

  llvm::Value *stride_ = nullptr, *meet_ = nullptr, *meeting_ = nullptr, *count_ = nullptr;
  uint64_t staticOffset_ = 0; // in a block's memory, behind the frames
};

} // namespace opsight::lower::warp
