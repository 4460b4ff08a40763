// publish_alone: in a kernel whose block is one thread, what it says of itself (calls.h) is published, or checked, for
// lane 0 of warp 0.
#include "lower/watch/checker.h"
#include <llvm/IR/InstIterator.h>

namespace opsight::lower::watch {

using llvm::IRBuilder, llvm::Value;

namespace {
class Alone {
public:
  explicit Alone(Context &context) : kernel_(*context.kernel) {
    IRBuilder<> b(&*kernel_.getEntryBlock().getFirstInsertionPt());
    addresses_ = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), card::warpLanes));
    values_ = b.CreateAlloca(llvm::ArrayType::get(b.getInt32Ty(), card::warpLanes));
  }

  void publish(llvm::CallInst &call, Say what) {
    IRBuilder<> b(&call);
    Publisher publisher(b, kernel_);
    Value *warp = b.getInt32(0), *mask = b.getInt32(1);
    switch (what) {
    case Say::Access:
    case Say::Store:
      b.CreateStore(b.CreateFreeze(call.getArgOperand(1)), addresses_);
      if (what == Say::Store)
        b.CreateStore(b.CreateFreeze(call.getArgOperand(2)), values_);
      publisher.access(call, warp, mask, addresses_, what == Say::Store ? values_ : nullptr);
      break;
    case Say::Point:
      publisher.point(call, warp, mask, call.getArgOperand(2));
      break;
    case Say::Array:
      publisher.array(call, warp, mask, call.getArgOperand(1));
      break;
    case Say::Block:
      publisher.block(call, mask);
      break;
    default: // what only checks say
      break;
    }
    call.eraseFromParent();
  }

  /// Nobody waits for anybody: there are no phases.
  void check(llvm::CallInst &call, Say what, const Context &context) {
    IRBuilder<> b(&call);
    Checker checker(b, context, kernel_);
    uint32_t number = numberOf(call);
    if (what == Say::Enter)
      checker.enter(b.getInt32(0));
    else if (what == Say::Array)
      checker.array(number, call.getArgOperand(1));
    else if (what != Say::Point)
      checkAccess(b, checker, call, number);
    call.eraseFromParent();
  }

private:
  void checkAccess(IRBuilder<> &b, Checker &checker, llvm::CallInst &call, uint32_t number) {
    Checked access{number, b.getInt32(0), b.getInt32(1)};
    Value *offset = call.getArgOperand(1), *start = call.arg_size() > 2 ? call.getArgOperand(2) : nullptr;
    bool isKnown = !start || !llvm::isa<llvm::ConstantPointerNull>(start);
    if (start)
      offset = b.CreatePtrToInt(offset, b.getInt64Ty());
    if (start && isKnown)
      offset = b.CreateSub(offset, b.CreatePtrToInt(start, b.getInt64Ty()));
    offset = b.CreateFreeze(offset);
    if (checker.isRegular(number)) {
      checker.place(access, offset);
      return;
    }
    b.CreateStore(offset, addresses_);
    isKnown ? checker.lanes(access, addresses_) : checker.anywhere(access, addresses_);
  }

  llvm::Function &kernel_;
  llvm::AllocaInst *addresses_, *values_;
};
} // namespace

static Status run(Context &context) {
  if (context.target.watched == Watched::No)
    return {};
  Alone alone(context);
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel)))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (auto what = saidBy(*call))
        context.target.watched == Watched::Checked ? alone.check(*call, *what, context) : alone.publish(*call, *what);
  return {};
}

const Pass publish_alone{"publish_alone", "a block of one thread publishes or checks what it does", run};

} // namespace opsight::lower::watch
