// What the threads of a warp do together: the warp is one value, so an exchange is a permutation of its lanes and a vote a
// comparison of its mask. Lanes are 32 here, or fewer where all there is are shuffles that stay among them (warp_width).
#include "lower/warp/emitter.h"
#include "lower/warp/passes.h"

namespace opsight::lower::warp {

using llvm::Value;
using spirv::WarpKind, spirv::WarpOperation;

constexpr unsigned warpSize = 32;

static Value *readLanes(Emitter &emitter, Value *value, Value *from) {
  llvm::IRBuilder<> &b = emitter.b;
  llvm::AllocaInst *words = emitter.slot(value->getType());
  b.CreateStore(value, words);
  Value *addresses = b.CreateGEP(b.getInt32Ty(), words, b.CreateZExt(from, emitter.widened(b.getInt64Ty())));
  return b.CreateMaskedGather(value->getType(), addresses, llvm::Align(4), emitter.fullMask(),
                              llvm::PoisonValue::get(value->getType()));
}

static Value *shuffle(Emitter &emitter, const WarpOperation &operation) {
  llvm::IRBuilder<> &b = emitter.b;
  Value *value = emitter.vector(operation.value);
  WarpOperation wide = operation; // PTX's rule for all lanes at once
  wide.lane = emitter.vector(operation.lane);
  wide.clamp = emitter.vector(operation.clamp);
  Value *from = spirv::sourceLane(b, wide, emitter.laneNumbers());
  auto *known = llvm::dyn_cast<llvm::Constant>(from); // constants of the source: a fixed permutation
  if (!known)
    return readLanes(emitter, value, from);
  llvm::SmallVector<int> lanes;
  for (unsigned lane = 0; lane < emitter.lanes; ++lane)
    lanes.push_back(int(llvm::cast<llvm::ConstantInt>(known->getAggregateElement(lane))->getZExtValue()));
  return b.CreateShuffleVector(value, lanes);
}

// The threads of `operation`'s mask that are here, one bit each: a scalar, or a vector where the masks differ.
static Value *whoTakesPart(Emitter &emitter, const WarpOperation &operation, Value *mask) {
  llvm::IRBuilder<> &b = emitter.b;
  Value *here = emitter.bits(mask);
  if (emitter.shape(operation.mask).isUniform())
    return b.CreateAnd(here, emitter.scalar(operation.mask));
  return b.CreateAnd(b.CreateVectorSplat(warpSize, here), emitter.vector(operation.mask));
}

static Value *vote(Emitter &emitter, const WarpOperation &operation, Value *mask) {
  llvm::IRBuilder<> &b = emitter.b;
  Value *yes = emitter.bits(emitter.both(mask, emitter.vector(operation.value)));
  Value *who = whoTakesPart(emitter, operation, mask);
  if (who->getType()->isVectorTy())
    yes = b.CreateVectorSplat(warpSize, yes);
  Value *votes = b.CreateAnd(yes, who);
  switch (operation.kind) {
  case WarpKind::Ballot: return votes;
  case WarpKind::Any: return b.CreateIsNotNull(votes);
  default: return b.CreateICmpEQ(votes, who);
  }
}

namespace {
struct Reduction {
  llvm::Intrinsic::ID ofVector;
  Value *(*combine)(llvm::IRBuilder<> &, Value *, Value *);
  uint32_t neutral;
};
} // namespace

template <llvm::Intrinsic::ID id> static Value *byIntrinsic(llvm::IRBuilder<> &b, Value *x, Value *y) {
  return b.CreateBinaryIntrinsic(id, x, y);
}
template <llvm::Instruction::BinaryOps code> static Value *byOperation(llvm::IRBuilder<> &b, Value *x, Value *y) {
  return b.CreateBinOp(code, x, y);
}

static Reduction reductionOf(WarpKind kind) {
  namespace I = llvm::Intrinsic;
  using Op = llvm::Instruction;
  switch (kind) {
  case WarpKind::ReduceMin: return {I::vector_reduce_smin, byIntrinsic<I::smin>, 0x7fffffffu};
  case WarpKind::ReduceMax: return {I::vector_reduce_smax, byIntrinsic<I::smax>, 0x80000000u};
  case WarpKind::ReduceUMin: return {I::vector_reduce_umin, byIntrinsic<I::umin>, 0xffffffffu};
  case WarpKind::ReduceUMax: return {I::vector_reduce_umax, byIntrinsic<I::umax>, 0};
  case WarpKind::ReduceAnd: return {I::vector_reduce_and, byOperation<Op::And>, 0xffffffffu};
  case WarpKind::ReduceOr: return {I::vector_reduce_or, byOperation<Op::Or>, 0};
  case WarpKind::ReduceXor: return {I::vector_reduce_xor, byOperation<Op::Xor>, 0};
  default: return {I::vector_reduce_add, byOperation<Op::Add>, 0};
  }
}

static Value *maskOfBits(Emitter &emitter, Value *bits) {
  return emitter.b.CreateBitCast(bits, emitter.widened(emitter.b.getInt1Ty()));
}

// Bit `k` of each lane's word.
static Value *bitOf(llvm::IRBuilder<> &b, Value *words, unsigned k) {
  Value *bit = b.CreateAnd(words, llvm::ConstantInt::get(words->getType(), uint64_t(1) << k));
  return b.CreateIsNotNull(bit);
}

static Value *broadcastLane(llvm::IRBuilder<> &b, Value *value, unsigned lane) {
  return b.CreateShuffleVector(value, llvm::SmallVector<int>(warpSize, int(lane)));
}

static Value *reduce(Emitter &emitter, const WarpOperation &operation, Value *mask) {
  llvm::IRBuilder<> &b = emitter.b;
  Reduction how = reductionOf(operation.kind);
  Value *value = emitter.vector(operation.value), *who = whoTakesPart(emitter, operation, mask);
  Value *neutral = llvm::ConstantInt::get(value->getType(), how.neutral);
  if (!who->getType()->isVectorTy())
    return b.CreateIntrinsic(how.ofVector, {value->getType()}, {b.CreateSelect(maskOfBits(emitter, who), value, neutral)});
  Value *all = neutral;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    all = how.combine(b, all, b.CreateSelect(bitOf(b, who, lane), broadcastLane(b, value, lane), neutral));
  return all;
}

// Each lane's word of those who hold the same value as it.
static Value *matching(Emitter &emitter, const WarpOperation &operation, Value *mask) {
  llvm::IRBuilder<> &b = emitter.b;
  // Lanes that are not there hold anything, poison too, which a comparison would spread into everybody's word.
  Value *value = b.CreateFreeze(emitter.vector(operation.value)), *who = whoTakesPart(emitter, operation, mask);
  if (!who->getType()->isVectorTy())
    who = b.CreateVectorSplat(warpSize, who);
  Value *zero = llvm::Constant::getNullValue(who->getType()), *same = zero;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    Value *equal = b.CreateICmpEQ(value, broadcastLane(b, value, lane));
    Value *bit = llvm::ConstantInt::get(who->getType(), uint64_t(1) << lane);
    same = b.CreateOr(same, b.CreateSelect(equal, bit, zero));
  }
  return b.CreateAnd(same, who);
}

Status Emitter::warpOperation(const WarpOperation &operation, Value *mask) {
  llvm::CallInst *call = operation.call;
  Value *result = nullptr;
  switch (operation.kind) {
  case WarpKind::Sync: return {};
  case WarpKind::ShuffleIndex:
  case WarpKind::ShuffleUp:
  case WarpKind::ShuffleDown:
  case WarpKind::ShuffleXor: result = shuffle(*this, operation); break;
  case WarpKind::ActiveMask: result = bits(mask); break;
  case WarpKind::Ballot:
  case WarpKind::Any:
  case WarpKind::All: result = vote(*this, operation, mask); break;
  case WarpKind::MatchAny: result = matching(*this, operation, mask); break;
  case WarpKind::MatchAll: {
    Value *named = vector(operation.mask), *same = matching(*this, operation, mask);
    Value *agree = b.CreateICmpEQ(same, named);
    defineParts(call, {b.CreateSelect(agree, same, llvm::Constant::getNullValue(same->getType())), agree});
    return {};
  }
  default: result = reduce(*this, operation, mask); break;
  }
  // One answer for all: a scalar, also where a vector was the shortest way to it.
  if (shape(call).isUniform() && result->getType()->isVectorTy())
    result = b.CreateExtractElement(result, uint64_t(0));
  if (!shape(call).isUniform() && !result->getType()->isVectorTy())
    result = b.CreateVectorSplat(lanes, result);
  define(call, result);
  return {};
}

static unsigned placeNumber(Context &context, const llvm::CallInst &call) {
  auto *number = call.getMetadata("opsight.place");
  auto *index = llvm::mdconst::extract<llvm::ConstantInt>(number->getOperand(0));
  assert(index->getZExtValue() < context.places.size());
  return unsigned(index->getZExtValue());
}

static std::pair<BarrierKind, Value *> contributionOf(Emitter &emitter, llvm::CallInst &call, Value *mask) {
  llvm::IRBuilder<> &b = emitter.b;
  if (spirv::isGridBarrier(call))
    return {BarrierKind::Grid, b.getInt32(0)};
  llvm::StringRef name = call.getCalledFunction()->getName();
  if (!name.contains(".red."))
    return {BarrierKind::Plain, b.getInt32(0)};
  Value *holds = emitter.vector(call.getArgOperand(1));
  Value *yes = emitter.bits(emitter.both(mask, holds));
  if (name.contains(".popc."))
    return {BarrierKind::Count, b.CreateZExtOrTrunc(b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, yes), b.getInt32Ty())};
  if (name.contains(".and."))
    return {BarrierKind::And, b.CreateZExt(b.CreateICmpEQ(yes, emitter.bits(mask)), b.getInt32Ty())};
  return {BarrierKind::Or, b.CreateZExt(b.CreateIsNotNull(yes), b.getInt32Ty())};
}

Status Emitter::barrier(llvm::CallInst &call, Value *mask) {
  unsigned place = placeNumber(context, call);
  llvm::Module &module = *warp.getParent();
  if (living) {
    // A grid waits for all of its threads, a block for those that have not returned.
    Value *expected = spirv::isGridBarrier(call) ? bits(existing) : b.CreateLoad(b.getIntNTy(lanes), living);
    llvm::BasicBlock *together = newBlock("together"), *apart = newBlock("apart");
    b.CreateCondBr(b.CreateICmpEQ(bits(mask), expected), together, apart);
    b.SetInsertPoint(apart);
    b.CreateCall(module.getOrInsertFunction(faultName, b.getVoidTy(), b.getInt32Ty()), b.getInt32(place));
    b.CreateRetVoid();
    b.SetInsertPoint(together);
  }
  if (call.getMetadata(idleMark))
    return {};
  auto [kind, contribution] = contributionOf(*this, call, mask);
  auto callee = module.getOrInsertFunction(barrierName, b.getInt32Ty(), b.getInt32Ty(), b.getInt32Ty(), b.getInt32Ty());
  Value *result = b.CreateCall(callee, {b.getInt32(place), b.getInt32(unsigned(kind)), contribution});
  if (call.getType()->isVoidTy())
    return {};
  define(&call, b.CreateZExtOrTrunc(call.getType()->isIntegerTy(1) ? b.CreateIsNotNull(result) : result, call.getType()));
  return {};
}

void Emitter::retire(llvm::CallInst &call, Value *mask) {
  if (!living)
    return;
  Value *gone = bits(both(mask, vector(call.getArgOperand(0))));
  b.CreateStore(b.CreateAnd(b.CreateLoad(gone->getType(), living), b.CreateNot(gone)), living);
}

} // namespace opsight::lower::warp
