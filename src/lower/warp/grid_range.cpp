// What warp_range exports of a kernel that waits for the whole grid (card/cpu/abi.h). The range's blocks are all there
// from the first phase to the last, each in memory of its own: its warps' frames, its static shared arrays, its dynamic
// ones. In a phase every block runs, one after another, until its threads have finished or wait for the grid. Then the
// call meets those of the other ranges. In a right launch all blocks wait at the same place, or all have finished.
#include "card/cpu/abi.h"
#include "card/message.h"
#include "lower/native/passes.h"
#include "lower/warp/range_writer.h"
#include <cstddef>

namespace opsight::lower::warp {

using card::native::Launch, llvm::BasicBlock, llvm::PHINode, llvm::Value;

void GridWriter::readLaunch() {
  constexpr uint64_t shared = card::native::residentAlignment;
  staticOffset_ = llvm::alignTo(warps_ * frameBytes(), shared);
  uint64_t bytes = staticOffset_ + llvm::alignTo(staticBytes(), shared);
  if (frameAlignment() > shared) // the launch's memory is aligned to less
    bytes += llvm::alignTo(frameAlignment(), shared);
  context_.manifest.residentBytes = bytes;
  stride_ = native::launchField(entry_, b_.getInt64Ty(), offsetof(Launch, residentStride), "stride");
  meet_ = native::launchField(entry_, b_.getPtrTy(), offsetof(Launch, meet), "meet");
  meeting_ = native::launchField(entry_, b_.getPtrTy(), offsetof(Launch, meeting), "meeting");
  count_ = b_.CreateSub(entry_.end(), entry_.begin(), "count");
}

/// What follows is about the block `position` blocks behind the range's first.
void GridWriter::enterBlock(Value *position) {
  auto behind = [&](Value *base, Value *offset) { return b_.CreateInBoundsGEP(b_.getInt8Ty(), base, offset); };
  Value *memory = behind(entry_.shared(), b_.CreateMul(position, stride_));
  *entry_.value(native::sharedName) = behind(memory, b_.getInt64(context_.manifest.residentBytes));
  if (uint64_t alignment = frameAlignment(); alignment > card::native::residentAlignment)
    memory = b_.CreateIntrinsic(llvm::Intrinsic::ptrmask, {b_.getPtrTy(), b_.getInt64Ty()},
                                {behind(memory, b_.getInt64(alignment - 1)), b_.getInt64(-alignment)});
  frames_ = memory;
  *entry_.value(staticName) = behind(memory, b_.getInt64(staticOffset_));
  nameBlock(position);
}

/// The block's numbers only.
void GridWriter::nameBlock(Value *position) {
  auto place = native::placeOfBlock(entry_, b_.CreateAdd(entry_.begin(), position));
  for (int axis = 0; axis < 3; ++axis)
    *entry_.value(native::blockNames[axis]) = place[size_t(axis)];
}

/// Which block has its turn: ascending, or as the launch's order asks, another way in each phase.
Value *GridWriter::positionOf(Value *turn, Value *phase) {
  auto times = [&](Value *value, uint64_t factor) { return b_.CreateMul(value, b_.getInt64(factor)); };
  Value *mixed = times(b_.CreateAdd(entry_.order, times(phase, 0x9E3779B97F4A7C15)), 0xBF58476D1CE4E5B9);
  Value *sum = b_.CreateAdd(turn, b_.CreateURem(b_.CreateLShr(mixed, 33), count_));
  Value *position = b_.CreateSelect(b_.CreateICmpUGE(sum, count_), b_.CreateSub(sum, count_), sum);
  Value *fromBehind = b_.CreateSub(b_.CreateSub(count_, b_.getInt64(1)), position);
  Value *isUpward = b_.CreateIsNull(b_.CreateAnd(mixed, b_.getInt64(uint64_t(1) << 32)));
  position = b_.CreateSelect(isUpward, position, fromBehind);
  return b_.CreateSelect(b_.CreateIsNull(entry_.order), turn, position);
}

void GridWriter::startBlocks() {
  BasicBlock *before = b_.GetInsertBlock(), *head = entry_.block("start.block"), *started = entry_.block("started");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  PHINode *position = b_.CreatePHI(b_.getInt64Ty(), 2, "position");
  enterBlock(position);
  startWarps();
  Value *next = b_.CreateAdd(position, b_.getInt64(1));
  position->addIncoming(b_.getInt64(0), before);
  position->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpULT(next, count_), head, started);
  b_.SetInsertPoint(started);
}

/// Goes on only where `condition` does not hold; else the range ends.
void GridWriter::leaveIf(Value *condition) {
  BasicBlock *leaves = entry_.block("leaves"), *stays = entry_.block("stays");
  b_.CreateCondBr(condition, leaves, stays);
  b_.SetInsertPoint(leaves);
  b_.CreateRetVoid();
  b_.SetInsertPoint(stays);
}

/// A thread whose assert failed is missing everywhere, and that has been said.
void GridWriter::leaveIfAsserted() {
  Value *mark = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), message_, offsetof(card::MessageHeader, asserted));
  leaveIf(b_.CreateIsNotNull(b_.CreateLoad(b_.getInt32Ty(), mark)));
}

/// The block at hand is in the state `at`, others in another: tells, and ends the range. `returned`: the position of a
/// block that has finished where one of the two states says so.
void GridWriter::reportParted(Value *at, Value *others, Value *returned) {
  leaveIfAsserted();
  BasicBlock *ended = entry_.block("ended"), *elsewhere = entry_.block("elsewhere");
  Value *waitsToo = b_.CreateAnd(b_.CreateIsNotNull(at), b_.CreateIsNotNull(others));
  b_.CreateCondBr(waitsToo, elsewhere, ended);
  b_.SetInsertPoint(elsewhere);
  Value *places[] = {placeIn(at), placeIn(others)};
  writeFault(elsewhere,
             "%s: the grid's barrier reached at two different places: other blocks wait at %s (block %u,%u,%u)\n",
             places, /*ofWarp=*/false);
  b_.SetInsertPoint(ended);
  nameBlock(returned);
  Value *place = placeIn(b_.CreateOr(at, others)); // one of them is 0
  writeFault(ended, "%s: only part of the grid's blocks come to its barrier: block %u,%u,%u has returned\n", {place},
             /*ofWarp=*/false);
}

/// Every block goes on until it has finished or waits; the state in which all of them then are.
Value *GridWriter::runPhase(Value *phase) {
  llvm::Type *i32 = b_.getInt32Ty();
  BasicBlock *before = b_.GetInsertBlock(), *head = entry_.block("block"), *next = entry_.block("next.block");
  BasicBlock *apart = entry_.block("blocks.apart"), *over = entry_.block("phase.over");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  PHINode *turn = b_.CreatePHI(b_.getInt64Ty(), 2, "turn"), *others = b_.CreatePHI(i32, 2, "others");
  Value *position = positionOf(turn, phase);
  enterBlock(position);
  Value *at = runRounds(b_.CreateAdd(entry_.begin(), position), b_.CreateShl(phase, 32));
  Value *isFirst = b_.CreateIsNull(turn);
  b_.CreateCondBr(b_.CreateOr(isFirst, b_.CreateICmpEQ(at, others)), next, apart);
  b_.SetInsertPoint(apart);
  Value *previous = positionOf(b_.CreateSub(turn, b_.getInt64(1)), phase);
  reportParted(at, others, b_.CreateSelect(b_.CreateIsNull(at), position, previous));
  b_.SetInsertPoint(next);
  Value *following = b_.CreateAdd(turn, b_.getInt64(1));
  turn->addIncoming(b_.getInt64(0), before);
  turn->addIncoming(following, next);
  others->addIncoming(b_.getInt32(0), before);
  others->addIncoming(at, next);
  b_.CreateCondBr(b_.CreateICmpULT(following, count_), head, over);
  b_.SetInsertPoint(over);
  nameBlock(b_.getInt64(0)); // for what may be told of the whole range
  return at;
}

/// Meets the other calls of the launch, where there are any. Of those who see that states differ, the one tells whose
/// state is not the largest: it knows both.
void GridWriter::meet(Value *state, BasicBlock *goOn, BasicBlock *done) {
  BasicBlock *alone = b_.GetInsertBlock(), *ask = entry_.block("ask"), *met = entry_.block("met");
  BasicBlock *together = entry_.block("together"), *apart = entry_.block("apart");
  Value *own = b_.CreateZExt(state, b_.getInt64Ty());
  b_.CreateCondBr(b_.CreateIsNull(meet_), met, ask);
  b_.SetInsertPoint(ask);
  auto *type = llvm::FunctionType::get(b_.getInt64Ty(), {b_.getPtrTy(), b_.getInt64Ty()}, false);
  Value *answer = b_.CreateCall(type, meet_, {meeting_, own});
  b_.CreateBr(met);
  b_.SetInsertPoint(met);
  PHINode *all = b_.CreatePHI(b_.getInt64Ty(), 2, "all");
  all->addIncoming(own, alone);
  all->addIncoming(answer, ask);
  b_.CreateCondBr(b_.CreateICmpEQ(all, own), together, apart);
  b_.SetInsertPoint(together);
  b_.CreateCondBr(b_.CreateIsNull(state), done, goOn);
  b_.SetInsertPoint(apart);
  Value *largest = b_.CreateTrunc(all, b_.getInt32Ty());
  leaveIf(b_.CreateICmpULE(largest, state));
  reportParted(state, largest, b_.getInt64(0)); // all of this range have
}

void GridWriter::write() {
  makeStrides();
  prepareMessages();
  returnIfUnmet();
  readLaunch();
  BasicBlock *any = entry_.block("any"), *head = entry_.block("phase"), *done = entry_.block("done");
  b_.CreateCondBr(b_.CreateIsNull(count_), done, any);
  b_.SetInsertPoint(any);
  startBlocks();
  BasicBlock *started = b_.GetInsertBlock();
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  PHINode *phase = b_.CreatePHI(b_.getInt64Ty(), 2, "phase");
  Value *state = runPhase(phase);
  BasicBlock *again = entry_.block("next.phase");
  meet(state, again, done);
  b_.SetInsertPoint(again);
  phase->addIncoming(b_.getInt64(0), started);
  phase->addIncoming(b_.CreateAdd(phase, b_.getInt64(1)), again);
  b_.CreateBr(head);
  b_.SetInsertPoint(done);
  native::closeEntry(entry_);
}

} // namespace opsight::lower::warp
