// lone_thread: barriers, votes and shuffles of a block of one thread. The thread is lane 0 of a warp in which no other
// lane is active, so a barrier orders nothing, a vote asks one voter and a shuffle reads the lane itself.
#include "lower/native/passes.h"
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace opsight::lower::native {

using llvm::IRBuilderBase, llvm::Value;

namespace {
/// What the call becomes; null: it vanishes.
using Answer = Value *(*)(IRBuilderBase &, llvm::CallInst &);
struct Row {
  llvm::StringRef prefix; // of the intrinsic's name behind "llvm.nvvm."
  Answer answer;
};
} // namespace

static Value *nothing(IRBuilderBase &, llvm::CallInst &) { return nullptr; }
template <unsigned index> static Value *operand(IRBuilderBase &, llvm::CallInst &call) {
  return call.getArgOperand(index);
}
template <unsigned index> static Value *asBit(IRBuilderBase &b, llvm::CallInst &call) {
  return b.CreateZExt(call.getArgOperand(index), call.getType());
}
static Value *laneZero(IRBuilderBase &b, llvm::CallInst &call) { return llvm::ConstantInt::get(call.getType(), 1); }
// match.all also says whether all lanes agreed: they did.
static Value *laneZeroAgrees(IRBuilderBase &b, llvm::CallInst &call) {
  auto *type = llvm::cast<llvm::StructType>(call.getType());
  return llvm::ConstantStruct::get(type, {llvm::ConstantInt::get(type->getElementType(0), 1),
                                          llvm::ConstantInt::getTrue(type->getElementType(1))});
}

constexpr Row rows[] = {
    {"barrier.cta.sync.", nothing},
    {"barrier.cta.red.popc.", asBit<1>},
    {"barrier.cta.red.", operand<1>},
    {"bar.warp.sync", nothing},
    {"shfl.sync.", operand<1>},
    {"vote.ballot.sync", asBit<1>},
    {"vote.", operand<1>},
    {"activemask", laneZero},
    {"match.all.sync.", laneZeroAgrees},
    {"match.any.sync.", laneZero},
    {"redux.sync.", operand<0>},
};

static const Row *rowOf(const llvm::CallInst &call) {
  const llvm::Function *callee = call.getCalledFunction();
  llvm::StringRef name = callee ? callee->getName() : "";
  if (!name.consume_front("llvm.nvvm."))
    return nullptr;
  for (const Row &row : rows)
    if (name.starts_with(row.prefix))
      return &row;
  return nullptr;
}

static Status run(Context &context) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel))) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const Row *row = call ? rowOf(*call) : nullptr;
    if (!row)
      continue;
    llvm::IRBuilder<> builder(call);
    if (Value *value = row->answer(builder, *call))
      call->replaceAllUsesWith(value);
    call->eraseFromParent();
  }
  return {};
}

const Pass lone_thread{"lone_thread", "fold barriers and warp operations of a block of one thread", run};

} // namespace opsight::lower::native
