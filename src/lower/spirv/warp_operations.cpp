// See warp_operations.h. Lanes are combined by unrolled loads and selects: no control flow, so the code stands equally in
// straight code and inside the scheduler's loop.
#include "lower/spirv/warp_operations.h"
#include "lower/spirv/builtins.h"
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace opsight::lower::spirv {

using llvm::IRBuilderBase, llvm::Value;

namespace {
struct Row {
  llvm::StringRef name; // after "llvm.nvvm."
  WarpKind kind;
  int mask, value, lane = -1, clamp = -1; // positions of operands
};
} // namespace

constexpr Row rows[] = {
    {"shfl.sync.idx.i32", WarpKind::ShuffleIndex, 0, 1, 2, 3},
    {"shfl.sync.up.i32", WarpKind::ShuffleUp, 0, 1, 2, 3},
    {"shfl.sync.down.i32", WarpKind::ShuffleDown, 0, 1, 2, 3},
    {"shfl.sync.bfly.i32", WarpKind::ShuffleXor, 0, 1, 2, 3},
    {"vote.ballot.sync", WarpKind::Ballot, 0, 1},
    {"vote.any.sync", WarpKind::Any, 0, 1},
    {"vote.all.sync", WarpKind::All, 0, 1},
    {"activemask", WarpKind::ActiveMask, -1, -1},
    {"bar.warp.sync", WarpKind::Sync, 0, -1},
    {"redux.sync.add", WarpKind::ReduceAdd, 1, 0},
    {"redux.sync.min", WarpKind::ReduceMin, 1, 0},
    {"redux.sync.max", WarpKind::ReduceMax, 1, 0},
    {"redux.sync.umin", WarpKind::ReduceUMin, 1, 0},
    {"redux.sync.umax", WarpKind::ReduceUMax, 1, 0},
    {"redux.sync.and", WarpKind::ReduceAnd, 1, 0},
    {"redux.sync.or", WarpKind::ReduceOr, 1, 0},
    {"redux.sync.xor", WarpKind::ReduceXor, 1, 0},
    {"match.any.sync.i32", WarpKind::MatchAny, 0, 1},
    {"match.all.sync.i32p", WarpKind::MatchAll, 0, 1},
};

std::optional<WarpOperation> asWarpOperation(llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (!call || !call->getCalledFunction())
    return std::nullopt;
  llvm::StringRef name = call->getCalledFunction()->getName();
  if (!name.consume_front("llvm.nvvm."))
    return std::nullopt;
  for (const Row &row : rows)
    if (row.name == name) {
      auto operand = [&](int position) { return position < 0 ? nullptr : call->getArgOperand(unsigned(position)); };
      return WarpOperation{call, row.kind, operand(row.mask), operand(row.value), operand(row.lane), operand(row.clamp)};
    }
  return std::nullopt;
}

llvm::SmallVector<WarpOperation> findWarpOperations(llvm::Function &kernel) {
  llvm::SmallVector<WarpOperation> operations;
  for (llvm::Instruction &instruction : llvm::instructions(kernel))
    if (auto operation = asWarpOperation(instruction))
      operations.push_back(*operation);
  return operations;
}

bool isBlockBarrier(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName().starts_with("llvm.nvvm.barrier.cta.");
}

constexpr const char *gridBarrierName = "__opsight_grid_sync"; // include/opsight-cuda/cooperative_groups.h

bool isGridBarrier(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == gridBarrierName;
}

bool hasGridBarrier(const llvm::Module &module) {
  const llvm::Function *barrier = module.getFunction(gridBarrierName);
  return barrier && !barrier->use_empty();
}

WarpView createWarpView(IRBuilderBase &b) {
  Value *thread = callLinearThread(b), *threads = callIndex(b, "get_local_size", 0);
  for (unsigned dimension : {1u, 2u})
    threads = b.CreateMul(threads, callIndex(b, "get_local_size", dimension));
  Value *lane = b.CreateAnd(thread, 31), *base = b.CreateSub(thread, lane);
  Value *count = b.CreateSub(threads, base);
  Value *some = b.CreateSub(b.CreateShl(b.getInt32(1), b.CreateAnd(count, 31)), b.getInt32(1));
  return {lane, base, b.CreateSelect(b.CreateICmpUGE(count, b.getInt32(32)), b.getInt32(-1), some)};
}

Value *publishedValue(IRBuilderBase &b, const WarpOperation &operation) {
  return operation.value ? b.CreateZExt(operation.value, b.getInt32Ty()) : b.getInt32(0);
}

Value *sourceLane(IRBuilderBase &b, const WarpOperation &operation, Value *lane) {
  Value *wanted = b.CreateAnd(operation.lane, 31), *clamp = b.CreateAnd(operation.clamp, 31);
  Value *segment = b.CreateAnd(b.CreateLShr(operation.clamp, 8), 31), *within = b.CreateXor(segment, 31);
  Value *low = b.CreateAnd(lane, segment), *limit = b.CreateOr(low, b.CreateAnd(clamp, within));
  Value *source = nullptr;
  switch (operation.kind) {
  case WarpKind::ShuffleUp: source = b.CreateSub(lane, wanted); break;
  case WarpKind::ShuffleDown: source = b.CreateAdd(lane, wanted); break;
  case WarpKind::ShuffleXor: source = b.CreateXor(lane, wanted); break;
  default: source = b.CreateOr(low, b.CreateAnd(wanted, within)); break;
  }
  Value *reachable = operation.kind == WarpKind::ShuffleUp ? b.CreateICmpSGE(source, limit) : b.CreateICmpSLE(source, limit);
  return b.CreateSelect(reachable, source, lane);
}

Value *wordAddress(IRBuilderBase &b, llvm::GlobalVariable *words, Value *index) {
  return b.CreateInBoundsGEP(b.getInt32Ty(), words, b.CreateZExt(index, b.getInt64Ty()));
}

static Value *step(IRBuilderBase &b, WarpKind kind, Value *sum, Value *word) {
  auto choose = [&](llvm::CmpInst::Predicate predicate) {
    return b.CreateSelect(b.CreateICmp(predicate, word, sum), word, sum);
  };
  switch (kind) {
  case WarpKind::ReduceAdd: return b.CreateAdd(sum, word);
  case WarpKind::ReduceMin: return choose(llvm::CmpInst::ICMP_SLT);
  case WarpKind::ReduceMax: return choose(llvm::CmpInst::ICMP_SGT);
  case WarpKind::ReduceUMin: return choose(llvm::CmpInst::ICMP_ULT);
  case WarpKind::ReduceUMax: return choose(llvm::CmpInst::ICMP_UGT);
  case WarpKind::ReduceAnd: return b.CreateAnd(sum, word);
  case WarpKind::ReduceOr: return b.CreateOr(sum, word);
  default: return b.CreateXor(sum, word);
  }
}

// A reduction starts from its neutral element, so lanes outside the mask simply leave the sum as it is.
static Value *neutral(IRBuilderBase &b, WarpKind kind) {
  switch (kind) {
  case WarpKind::ReduceMin: return b.getInt32(0x7FFFFFFF);
  case WarpKind::ReduceMax: return b.getInt32(0x80000000);
  case WarpKind::ReduceUMin: case WarpKind::ReduceAnd: return b.getInt32(0xFFFFFFFF);
  default: return b.getInt32(0);
  }
}

Value *wordOfLane(IRBuilderBase &b, llvm::GlobalVariable *words, const WarpView &view, unsigned lane) {
  Value *address = wordAddress(b, words, b.CreateAdd(view.base, b.getInt32(lane)));
  return b.CreateAlignedLoad(b.getInt32Ty(), address, llvm::Align(4));
}

// Bit l of the result: whether lane l's word passes `test`.
template <class Test>
static Value *lanesWhere(IRBuilderBase &b, ReadLane read, Test test) {
  Value *bits = b.getInt32(0);
  for (unsigned lane = 0; lane < 32; ++lane) {
    Value *passes = b.CreateZExt(test(read(lane)), b.getInt32Ty());
    bits = b.CreateOr(bits, b.CreateShl(passes, lane));
  }
  return bits;
}

Value *combineLanes(IRBuilderBase &b, WarpKind kind, ReadLane read, Value *mask, Value *own) {
  Value *zero = b.getInt32(0);
  auto set = [&] { return lanesWhere(b, read, [&](Value *word) { return b.CreateICmpNE(word, zero); }); };
  auto equal = [&] { return lanesWhere(b, read, [&](Value *word) { return b.CreateICmpEQ(word, own); }); };
  switch (kind) {
  case WarpKind::Ballot: return b.CreateAnd(set(), mask);
  case WarpKind::Any: return b.CreateZExt(b.CreateICmpNE(b.CreateAnd(set(), mask), zero), b.getInt32Ty());
  case WarpKind::All:
    return b.CreateZExt(b.CreateICmpEQ(b.CreateAnd(b.CreateNot(set()), mask), zero), b.getInt32Ty());
  case WarpKind::ActiveMask: return mask;
  case WarpKind::Sync: return zero;
  case WarpKind::MatchAny: return b.CreateAnd(equal(), mask);
  case WarpKind::MatchAll:
    return b.CreateSelect(b.CreateICmpEQ(b.CreateAnd(b.CreateNot(equal()), mask), zero), mask, zero);
  default: break;
  }
  Value *sum = neutral(b, kind);
  for (unsigned lane = 0; lane < 32; ++lane) {
    Value *takesPart = b.CreateICmpNE(b.CreateAnd(mask, b.getInt32(1u << lane)), zero);
    sum = b.CreateSelect(takesPart, step(b, kind, sum, read(lane)), sum);
  }
  return sum;
}

Value *asResult(IRBuilderBase &b, const WarpOperation &operation, Value *word) {
  llvm::Type *type = operation.call->getType();
  if (type->isIntegerTy(1))
    return b.CreateICmpNE(word, b.getInt32(0));
  if (type->isIntegerTy(32))
    return word;
  if (type->isVoidTy())
    return nullptr;
  Value *pair = b.CreateInsertValue(llvm::PoisonValue::get(type), word, 0); // match.all: the mask, and whether all match
  return b.CreateInsertValue(pair, b.CreateICmpNE(word, b.getInt32(0)), 1);
}

} // namespace opsight::lower::spirv
