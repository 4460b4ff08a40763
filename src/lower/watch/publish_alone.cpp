// publish_alone: in a kernel whose block is one thread, what it says of itself (calls.h) is published for lane 0 of
// warp 0.
#include "lower/watch/calls.h"
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
    }
    call.eraseFromParent();
  }

private:
  llvm::Function &kernel_;
  llvm::AllocaInst *addresses_, *values_;
};
} // namespace

static Status run(Context &context) {
  if (!context.target.watched)
    return {};
  Alone alone(context);
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(*context.kernel)))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (auto what = saidBy(*call))
        alone.publish(*call, *what);
  return {};
}

const Pass publish_alone{"publish_alone", "a block of one thread publishes what it does", run};

} // namespace opsight::lower::watch
