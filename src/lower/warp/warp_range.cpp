// warp_range: the exported entry of card/cpu/abi.h for kernels whose blocks have warps. A block without barriers is a
// loop over its warps. One with barriers goes in rounds: every warp that is not finished runs until it returns (see
// suspend), then all of them are at a barrier, and must be at the same one.
//
// All memory of a block, static shared arrays and the warps' frames, is the entry's own and made once for its range.
#include "card/message.h"
#include "lower/message_record.h"
#include "lower/native/entry.h"
#include "lower/native/passes.h"
#include "lower/warp/frame.h"
#include <cstddef>
#include <fmt/format.h>
#include <numeric>

namespace opsight::lower::warp {

using card::MessageHeader, llvm::BasicBlock, llvm::IRBuilder, llvm::PHINode, llvm::Value;

/// Of card::native::stackBytes; the rest is left for shared arrays and calls.
constexpr uint64_t framesLimit = 6u << 20;
/// In a frame's first word in place of a barrier's number.
constexpr uint32_t finished = ~0u;

namespace {
/// Where the warps of a round are taken from: `first`, then every `stride`th, modulo their number.
struct Order {
  Value *first, *stride;
};

/// One round over a block's warps, or all there is to do when the kernel has no barriers.
struct WarpLoop {
  BasicBlock *before, *head, *next; // `next` is where a warp's turn ends
  PHINode *count, *warp;
};

class Writer {
public:
  Writer(Context &context, native::Entry &entry, unsigned warps)
      : context_(context), entry_(entry), b_(entry.b), warps_(warps), frame_(entry.value(frameName)) {}
  void write();

private:
  Value *frameOf(Value *warp);
  void prepareMessages();
  void returnIfUnmet();
  Order orderOf(Value *block, Value *round);
  WarpLoop openLoop(const Order &order);
  void closeLoop(const WarpLoop &loop, const Order &order, BasicBlock *exit);
  void runWarps(Value *block);
  void startWarps();
  void runRounds(Value *block);
  void writeFault(BasicBlock *block, const std::string &format, llvm::ArrayRef<Value *> returned);
  bool votes() const { return !entry_.body->getArg(unsigned(entry_.body->arg_size() - 1))->use_empty(); }
  uint64_t frameBytes() const { return frameArgument()->getDereferenceableBytes(); }
  llvm::Argument *frameArgument() const { return entry_.body->getArg(unsigned(entry_.body->arg_size() - 2)); }

  Context &context_;
  native::Entry &entry_;
  IRBuilder<> &b_;
  unsigned warps_;
  Value **frame_;                    // among the entry's values; null: the kernel never suspends
  Value *frames_ = nullptr, *message_ = nullptr, *strides_ = nullptr;
  uint32_t firstPlace_ = 0, strideCount_ = 0; // of the places' formats; of `strides_`
};
} // namespace

/// Steps through `warps` that come by every one of them.
static std::vector<uint32_t> stridesFor(unsigned warps) {
  std::vector<uint32_t> strides;
  for (uint32_t stride = 1; stride < warps || stride == 1; ++stride)
    if (std::gcd(stride, warps) == 1)
      strides.push_back(stride);
  return strides;
}

Value *Writer::frameOf(Value *warp) {
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
void Writer::prepareMessages() {
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
void Writer::returnIfUnmet() {
  BasicBlock *gone = entry_.block("gone"), *go = entry_.block("go");
  Value *mark = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), message_, offsetof(MessageHeader, unmet));
  b_.CreateCondBr(b_.CreateICmpEQ(b_.CreateLoad(b_.getInt32Ty(), mark), b_.getInt32(0)), go, gone);
  b_.SetInsertPoint(gone);
  b_.CreateRetVoid();
  b_.SetInsertPoint(go);
}

/// Ascending when the launch asks for no other order.
Order Writer::orderOf(Value *block, Value *round) {
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

WarpLoop Writer::openLoop(const Order &order) {
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
void Writer::closeLoop(const WarpLoop &loop, const Order &order, BasicBlock *exit) {
  Value *count = b_.CreateAdd(loop.count, b_.getInt32(1)), *warp = b_.CreateAdd(loop.warp, order.stride);
  Value *wraps = b_.CreateICmpUGE(warp, b_.getInt32(warps_));
  loop.count->addIncoming(count, b_.GetInsertBlock());
  loop.warp->addIncoming(b_.CreateSelect(wraps, b_.CreateSub(warp, b_.getInt32(warps_)), warp), b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpULT(count, b_.getInt32(warps_)), loop.head, exit);
  b_.SetInsertPoint(exit);
}

void Writer::runWarps(Value *block) {
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

/// No warp waits anywhere yet.
void Writer::startWarps() {
  Order ascending{b_.getInt32(0), b_.getInt32(1)};
  WarpLoop loop = openLoop(ascending);
  b_.CreateStore(b_.getInt32(0), word(b_, frameOf(loop.warp), stateOffset));
  b_.CreateBr(loop.next);
  b_.SetInsertPoint(loop.next);
  closeLoop(loop, ascending, entry_.block("rounds"));
}

/// Records what happened and ends the range. `returned` are the kernel's results that the format's places come from.
void Writer::writeFault(BasicBlock *block, const std::string &format, llvm::ArrayRef<Value *> returned) {
  b_.SetInsertPoint(block);
  llvm::SmallVector<Value *> arguments;
  for (Value *place : returned)
    arguments.push_back(b_.CreateAdd(place, b_.getInt32(firstPlace_)));
  for (const char *name : native::blockNames)
    arguments.push_back(*entry_.value(name));
  arguments.push_back(*entry_.value(warpName));
  llvm::Instruction *end = b_.CreateRetVoid();
  uint32_t id = formatId(context_.manifest, format);
  recordMessage(end, message_, id, arguments);
  b_.SetInsertPoint(end);
  markMessage(b_, message_, offsetof(MessageHeader, unmet), id + 1);
}

void Writer::runRounds(Value *block) {
  startWarps();
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
  PHINode *atNow = b_.CreatePHI(i32, 3), *sumNow = b_.CreatePHI(i32, 3);
  for (auto [from, where, total] : {std::tuple<BasicBlock *, Value *, Value *>{loop.head, at, sum}, {ends, at, sum}, {waits, why, sumHere}})
    atNow->addIncoming(where, from), sumNow->addIncoming(total, from);
  at->addIncoming(b_.getInt32(0), loop.before);
  sum->addIncoming(b_.getInt32(0), loop.before);
  at->addIncoming(atNow, loop.next);
  sum->addIncoming(sumNow, loop.next);
  closeLoop(loop, order, again);

  BasicBlock *done = entry_.block("finished");
  round->addIncoming(b_.getInt64(0), started);
  round->addIncoming(b_.CreateAdd(round, b_.getInt64(1)), again);
  vote->addIncoming(b_.getInt32(0), started);
  vote->addIncoming(sumNow, again);
  b_.CreateCondBr(b_.CreateICmpEQ(atNow, b_.getInt32(0)), done, head);
  b_.SetInsertPoint(strayed);
  Value *place = b_.CreateNot(why);
  writeFault(strayed, "%s: only part of the threads of a warp come to the barrier (block %u,%u,%u, warp %u)\n", {place});
  b_.SetInsertPoint(parted);
  Value *here = b_.CreateSub(why, b_.getInt32(1)), *there = b_.CreateSub(at, b_.getInt32(1));
  writeFault(parted, "%s: barrier reached at two different places: other warps wait at %s (block %u,%u,%u, warp %u)\n",
             {here, there});
  b_.SetInsertPoint(done);
}

void Writer::write() {
  // Read ahead of all loops.
  *entry_.value(staticName) = block(b_, std::max<uint64_t>(context_.manifest.staticSharedBytes, 1), 128, "static");
  if (warps_ > 1) {
    auto strides = stridesFor(warps_);
    auto *table = llvm::ConstantDataArray::get(b_.getContext(), strides);
    strides_ = new llvm::GlobalVariable(context_.module, table->getType(), true, llvm::GlobalValue::PrivateLinkage, table,
                                        "opsight.strides");
    strideCount_ = uint32_t(strides.size());
  }
  if (frame_) {
    frames_ = block(b_, warps_ * frameBytes(), frameArgument()->getParamAlign().valueOrOne().value(), "frames");
    prepareMessages();
    returnIfUnmet();
  }
  native::forEachBlock(entry_, [&](Value *block) { frame_ ? runRounds(block) : runWarps(block); });
  native::closeEntry(entry_);
}

static Status run(Context &context) {
  if (context.target.lanes == 0)
    return internalError("the pass warp_range was not told how many threads a vector holds");
  uint64_t warps = (context.target.block.count() + context.target.lanes - 1) / context.target.lanes;
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
  Writer(context, entry, unsigned(warps)).write();
  return {};
}

const Pass warp_range{"warp_range", "export an entry that runs the warps of a range of blocks", run};

} // namespace opsight::lower::warp
