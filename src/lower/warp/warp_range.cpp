// warp_range: the exported entry of card/cpu/abi.h for kernels whose blocks have warps. A block without barriers is a
// loop over its warps. One with barriers goes in rounds: every warp that is not finished runs until it returns (see
// suspend), then all of them are at a barrier, and must be at the same one.
//
// All memory of a block, static shared arrays and the warps' frames, is the entry's own and made once for its range, but
// where the kernel waits for the whole grid (grid_range.cpp).
#include "card/message.h"
#include "lower/message_record.h"
#include "lower/native/passes.h"
#include "lower/warp/frame.h"
#include "lower/warp/range_writer.h"
#include <cstddef>
#include <fmt/format.h>
#include <numeric>

namespace opsight::lower::warp {

using card::MessageHeader, llvm::BasicBlock, llvm::IRBuilder, llvm::PHINode, llvm::Value;

/// Of card::native::stackBytes; the rest is left for shared arrays and calls.
constexpr uint64_t framesLimit = 6u << 20;
/// In a frame's first word in place of a barrier's number.
constexpr uint32_t finished = ~0u;

/// Steps through `warps` that come by every one of them.
static std::vector<uint32_t> stridesFor(unsigned warps) {
  std::vector<uint32_t> strides;
  for (uint32_t stride = 1; stride < warps || stride == 1; ++stride)
    if (std::gcd(stride, warps) == 1)
      strides.push_back(stride);
  return strides;
}

Value *RangeWriter::frameOf(Value *warp) {
  Value *offset = b_.CreateMul(b_.CreateZExt(warp, b_.getInt64Ty()), b_.getInt64(frameBytes()));
  return b_.CreateInBoundsGEP(b_.getInt8Ty(), frames_, offset);
}

static Value *block(IRBuilder<> &b, uint64_t bytes, uint64_t alignment, const char *name) {
  auto *memory = b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), bytes), nullptr, name);
  memory->setAlignment(llvm::Align(alignment));
  return memory;
}

static std::string textOf(const SourcePlace &place) {
  return place.file.empty() ? "an unknown place" : fmt::format("{}:{}", place.file, place.line);
}

/// The message buffer, which a kernel that prints has already, and the places' names in the manifest.
void RangeWriter::prepareMessages() {
  auto &parameters = context_.manifest.parameters;
  auto found = llvm::find_if(parameters, [](auto &parameter) { return parameter.kind == card::Parameter::Kind::Message; });
  auto index = size_t(found - parameters.begin());
  if (found == parameters.end())
    parameters.push_back({.name = "", .kind = card::Parameter::Kind::Message, .bytes = 8, .alignment = 8});
  message_ = b_.CreateLoad(b_.getPtrTy(), native::argumentAddress(entry_, index), "message");
  firstPlace_ = uint32_t(context_.manifest.formats.size());
  for (const SourcePlace &place : context_.places)
    context_.manifest.formats.push_back(textOf(place));
}

/// One range that met a fault is enough: the launch is void.
void RangeWriter::returnIfUnmet() {
  BasicBlock *gone = entry_.block("gone"), *go = entry_.block("go");
  Value *mark = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), message_, offsetof(MessageHeader, unmet));
  b_.CreateCondBr(b_.CreateICmpEQ(b_.CreateLoad(b_.getInt32Ty(), mark), b_.getInt32(0)), go, gone);
  b_.SetInsertPoint(gone);
  b_.CreateRetVoid();
  b_.SetInsertPoint(go);
}

/// Ascending when the launch asks for no other order.
Order RangeWriter::orderOf(Value *block, Value *round) {
  if (warps_ == 1)
    return {b_.getInt32(0), b_.getInt32(1)};
  auto times = [&](Value *value, uint64_t factor) { return b_.CreateMul(value, b_.getInt64(factor)); };
  Value *mixed = b_.CreateAdd(entry_.order, times(block, 0xD1B54A32D192ED03));
  mixed = times(b_.CreateAdd(mixed, times(b_.CreateAdd(round, b_.getInt64(1)), 0x9E3779B97F4A7C15)), 0xBF58476D1CE4E5B9);
  Value *high = b_.CreateLShr(mixed, 48), *middle = b_.CreateAnd(b_.CreateLShr(mixed, 32), b_.getInt64(0xFFFF));
  Value *first = b_.CreateTrunc(b_.CreateURem(high, b_.getInt64(warps_)), b_.getInt32Ty());
  Value *pick = b_.CreateURem(middle, b_.getInt64(strideCount_));
  Value *stride = b_.CreateLoad(b_.getInt32Ty(), b_.CreateInBoundsGEP(b_.getInt32Ty(), strides_, pick));
  Value *ascending = b_.CreateICmpEQ(entry_.order, b_.getInt64(0));
  return {b_.CreateSelect(ascending, b_.getInt32(0), first), b_.CreateSelect(ascending, b_.getInt32(1), stride)};
}

WarpLoop RangeWriter::openLoop(const Order &order) {
  WarpLoop loop{b_.GetInsertBlock(), entry_.block("warp"), entry_.block("next.warp"), nullptr, nullptr};
  b_.CreateBr(loop.head);
  b_.SetInsertPoint(loop.head);
  loop.count = b_.CreatePHI(b_.getInt32Ty(), 2);
  loop.warp = b_.CreatePHI(b_.getInt32Ty(), 2, "warp");
  loop.count->addIncoming(b_.getInt32(0), loop.before);
  loop.warp->addIncoming(order.first, loop.before);
  return loop;
}

/// With `b_` in `loop.next`: on to the following warp, or to `exit` behind the last.
void RangeWriter::closeLoop(const WarpLoop &loop, const Order &order, BasicBlock *exit) {
  Value *count = b_.CreateAdd(loop.count, b_.getInt32(1)), *warp = b_.CreateAdd(loop.warp, order.stride);
  Value *wraps = b_.CreateICmpUGE(warp, b_.getInt32(warps_));
  loop.count->addIncoming(count, b_.GetInsertBlock());
  loop.warp->addIncoming(b_.CreateSelect(wraps, b_.CreateSub(warp, b_.getInt32(warps_)), warp), b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpULT(count, b_.getInt32(warps_)), loop.head, exit);
  b_.SetInsertPoint(exit);
}

void RangeWriter::runWarps(Value *block) {
  Order order = orderOf(block, b_.getInt64(0));
  WarpLoop loop = openLoop(order);
  *entry_.value(warpName) = loop.warp;
  b_.CreateCall(entry_.body, entry_.values);
  b_.CreateBr(loop.next);
  b_.SetInsertPoint(loop.next);
  closeLoop(loop, order, entry_.block("finished"));
}

static Value *word(IRBuilder<> &b, Value *frame, uint64_t offset) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame, offset);
}

void RangeWriter::startWarps() {
  Order ascending{b_.getInt32(0), b_.getInt32(1)};
  WarpLoop loop = openLoop(ascending);
  b_.CreateStore(b_.getInt32(0), word(b_, frameOf(loop.warp), stateOffset));
  b_.CreateBr(loop.next);
  b_.SetInsertPoint(loop.next);
  closeLoop(loop, ascending, entry_.block("rounds"));
}

Value *RangeWriter::placeIn(Value *returned) {
  return b_.CreateSub(isGrid() ? b_.CreateAnd(returned, b_.getInt32(~gridMark)) : returned, b_.getInt32(1));
}

void RangeWriter::writeFault(BasicBlock *block, const std::string &format, llvm::ArrayRef<Value *> returned, bool ofWarp) {
  b_.SetInsertPoint(block);
  llvm::SmallVector<Value *> arguments;
  for (Value *place : returned)
    arguments.push_back(b_.CreateAdd(place, b_.getInt32(firstPlace_)));
  for (const char *name : native::blockNames)
    arguments.push_back(*entry_.value(name));
  if (ofWarp)
    arguments.push_back(*entry_.value(warpName));
  llvm::Instruction *end = b_.CreateRetVoid();
  uint32_t id = formatId(context_.manifest, format);
  recordMessage(end, message_, id, arguments);
  b_.SetInsertPoint(end);
  markMessage(b_, message_, offsetof(MessageHeader, unmet), id + 1);
}

/// Behind a round: on to the next, or to `done`. At a grid's barrier there is nobody who may be missing.
void RangeWriter::leaveRounds(Value *at, Value *ended, BasicBlock *head, BasicBlock *done) {
  Value *over = b_.CreateICmpEQ(at, b_.getInt32(0));
  if (ended) {
    BasicBlock *missed = entry_.block("missed"), *complete = entry_.block("complete");
    Value *waits = b_.CreateICmpNE(b_.CreateAnd(at, b_.getInt32(gridMark)), b_.getInt32(0));
    b_.CreateCondBr(b_.CreateAnd(waits, ended), missed, complete);
    b_.SetInsertPoint(missed);
    writeFault(missed, "%s: only part of a block's threads come to the barrier of the whole grid (block %u,%u,%u)\n",
               {placeIn(at)}, /*ofWarp=*/false);
    b_.SetInsertPoint(complete);
    over = b_.CreateOr(over, waits);
  }
  b_.CreateCondBr(over, done, head);
}

Value *RangeWriter::runRounds(Value *block, Value *firstRound) {
  BasicBlock *started = b_.GetInsertBlock(), *head = entry_.block("round"), *again = entry_.block("again");
  BasicBlock *run = entry_.block("run"), *returned = entry_.block("returned"), *waits = entry_.block("waits");
  BasicBlock *ends = entry_.block("ends"), *strayed = entry_.block("strayed"), *parted = entry_.block("parted");
  llvm::Type *i32 = b_.getInt32Ty();
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  PHINode *round = b_.CreatePHI(b_.getInt64Ty(), 2), *vote = b_.CreatePHI(i32, 2, "vote");
  Order order = orderOf(block, round);
  WarpLoop loop = openLoop(order);
  PHINode *at = b_.CreatePHI(i32, 2, "at"), *sum = b_.CreatePHI(i32, 2, "sum"); // the barrier of this round; its votes
  PHINode *ended = isGrid() ? b_.CreatePHI(b_.getInt1Ty(), 2, "ended") : nullptr; // whether some warp has
  Value *frame = frameOf(loop.warp), *state = word(b_, frame, stateOffset);
  b_.CreateCondBr(b_.CreateICmpEQ(b_.CreateLoad(i32, state), b_.getInt32(finished)), loop.next, run);

  b_.SetInsertPoint(run);
  *entry_.value(warpName) = loop.warp;
  *frame_ = frame;
  *entry_.value(voteName) = vote;
  Value *why = b_.CreateCall(entry_.body, entry_.values, "why");
  b_.CreateCondBr(b_.CreateICmpEQ(why, b_.getInt32(0)), ends, returned);
  b_.SetInsertPoint(ends);
  b_.CreateStore(b_.getInt32(finished), state);
  b_.CreateBr(loop.next);
  b_.SetInsertPoint(returned);
  b_.CreateCondBr(b_.CreateICmpSLT(why, b_.getInt32(0)), strayed, waits);
  b_.SetInsertPoint(waits);
  Value *sumHere = votes() ? b_.CreateAdd(sum, b_.CreateLoad(i32, word(b_, frame, contributionOffset))) : sum;
  Value *same = b_.CreateOr(b_.CreateICmpEQ(at, b_.getInt32(0)), b_.CreateICmpEQ(at, why));
  b_.CreateCondBr(same, loop.next, parted);

  b_.SetInsertPoint(loop.next);
  auto carry = [&](PHINode *kept, Value *first, std::array<Value *, 3> ways) { // from the loop's head, `ends` and `waits`
    PHINode *now = b_.CreatePHI(kept->getType(), 3);
    for (auto [from, value] : llvm::zip(std::array{loop.head, ends, waits}, ways))
      now->addIncoming(value, from);
    kept->addIncoming(first, loop.before);
    kept->addIncoming(now, loop.next);
    return now;
  };
  Value *atNow = carry(at, b_.getInt32(0), {at, at, why}), *sumNow = carry(sum, b_.getInt32(0), {sum, sum, sumHere});
  Value *endedNow = ended ? carry(ended, b_.getFalse(), {b_.getTrue(), b_.getTrue(), ended}) : nullptr;
  closeLoop(loop, order, again);

  BasicBlock *done = entry_.block("finished");
  round->addIncoming(firstRound, started);
  vote->addIncoming(b_.getInt32(0), started);
  Value *nextRound = b_.CreateAdd(round, b_.getInt64(1));
  leaveRounds(atNow, endedNow, head, done);
  round->addIncoming(nextRound, b_.GetInsertBlock());
  vote->addIncoming(sumNow, b_.GetInsertBlock());
  b_.SetInsertPoint(strayed);
  writeFault(strayed, "%s: only part of the threads of a warp come to the barrier (block %u,%u,%u, warp %u)\n",
             {b_.CreateNot(why)});
  b_.SetInsertPoint(parted);
  Value *here = placeIn(why), *there = placeIn(at);
  writeFault(parted, "%s: barrier reached at two different places: other warps wait at %s (block %u,%u,%u, warp %u)\n",
             {here, there});
  b_.SetInsertPoint(done);
  return atNow;
}

/// Orders of a block's warps.
void RangeWriter::makeStrides() {
  if (warps_ < 2)
    return;
  auto strides = stridesFor(warps_);
  auto *table = llvm::ConstantDataArray::get(b_.getContext(), strides);
  strides_ = new llvm::GlobalVariable(context_.module, table->getType(), true, llvm::GlobalValue::PrivateLinkage, table,
                                      "opsight.strides");
  strideCount_ = uint32_t(strides.size());
}

void RangeWriter::write() {
  // Read ahead of all loops.
  *entry_.value(staticName) = block(b_, staticBytes(), 128, "static");
  makeStrides();
  if (frame_) {
    frames_ = block(b_, warps_ * frameBytes(), frameAlignment(), "frames");
    prepareMessages();
    returnIfUnmet();
  }
  native::forEachBlock(entry_, [&](Value *block) {
    if (!frame_) {
      runWarps(block);
      return;
    }
    startWarps();
    runRounds(block, b_.getInt64(0));
  });
  native::closeEntry(entry_);
}

static Status run(Context &context) {
  if (context.target.lanes == 0)
    return internalError("the pass warp_range was not told how many threads a vector holds");
  uint64_t warps = vectorsOf(context);
  native::Entry entry(context);
  for (const char *name : {staticName, warpName})
    if (!entry.value(name))
      return internalError(fmt::format("the kernel that reached the pass warp_range has no parameter {}", name));
  if (llvm::Value **frame = entry.value(frameName); frame) {
    uint64_t bytes = warps * entry.body->getArg(unsigned(frame - entry.values.begin()))->getDereferenceableBytes();
    if (bytes > framesLimit)
      return unsupported(fmt::format("a block of {} threads that keeps {:.1f} MiB of variables while it waits at barriers; "
                                     "the cpu card holds {} MiB",
                                     context.target.block.count(), double(bytes) / (1 << 20), framesLimit >> 20),
                         "use fewer threads a block, smaller local arrays, or an OpenCL card");
  }
  if (entry.body->hasFnAttribute(gridAttribute))
    GridWriter(context, entry, unsigned(warps)).write();
  else
    RangeWriter(context, entry, unsigned(warps)).write();
  return {};
}

const Pass warp_range{"warp_range", "export an entry that runs the warps of a range of blocks", run};

} // namespace opsight::lower::warp
