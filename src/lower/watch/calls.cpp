// See calls.h.
#include "lower/watch/calls.h"
#include "lower/kernel.h"
#include "lower/native/passes.h"

namespace opsight::lower::watch {

using card::BlockVisits, card::WatchHeader, llvm::IRBuilder, llvm::Value;

constexpr llvm::StringRef names[] = {"opsight.watch.access",      "opsight.watch.store", "opsight.watch.point",
                                     "opsight.watch.array",       "opsight.watch.block", "opsight.watch.check",
                                     "opsight.watch.check_local", "opsight.watch.enter"};

void say(IRBuilder<> &b, Say what, uint32_t number, llvm::ArrayRef<Value *> more) {
  llvm::SmallVector<Value *> arguments{b.getInt32(number)};
  llvm::SmallVector<llvm::Type *> types{b.getInt32Ty()};
  for (Value *value : more) {
    arguments.push_back(value);
    types.push_back(value->getType());
  }
  llvm::Module &module = *b.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee =
      module.getOrInsertFunction(names[size_t(what)], llvm::FunctionType::get(b.getVoidTy(), types, false));
  auto *function = llvm::cast<llvm::Function>(callee.getCallee());
  // It touches nothing of the kernel's, so that nothing of the kernel is compiled differently for it; but each stays
  // where it is.
  function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  function->setDoesNotThrow();
  function->setWillReturn();
  function->addFnAttr(llvm::Attribute::NoMerge);
  b.CreateCall(callee, arguments);
}

std::optional<Say> saidBy(const llvm::CallInst &call) {
  const llvm::Function *callee = call.getCalledFunction();
  for (size_t i = 0; callee && i < std::size(names); ++i)
    if (callee->getName() == names[i])
      return Say(i);
  return std::nullopt;
}

uint32_t numberOf(const llvm::CallInst &call) {
  return uint32_t(llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue());
}

Value *Publisher::ring() { return findArgument(kernel_, ringName); }

Value *blockIndex(IRBuilder<> &b, llvm::Function &kernel) {
  auto wide = [&](const char *name) { return b.CreateZExt(findArgument(kernel, name), b.getInt64Ty()); };
  Value *index = wide(native::blockNames[2]);
  for (unsigned axis : {1u, 0u})
    index = b.CreateAdd(b.CreateMul(index, wide(native::gridNames[axis])), wide(native::blockNames[axis]));
  return index;
}

void Publisher::callRuntime(const char *name, llvm::ArrayRef<Value *> arguments) {
  llvm::SmallVector<llvm::Type *> types;
  for (Value *argument : arguments)
    types.push_back(argument->getType());
  llvm::FunctionCallee callee =
      kernel_.getParent()->getOrInsertFunction(name, llvm::FunctionType::get(b_.getVoidTy(), types, false));
  llvm::CallInst *call = b_.CreateCall(callee, arguments);
  call->setDoesNotThrow();
}

void Publisher::access(const llvm::CallInst &call, Value *warp, Value *mask, Value *addresses, Value *values) {
  if (!values)
    values = llvm::ConstantPointerNull::get(b_.getPtrTy());
  callRuntime("opsight_publish_access",
              {ring(), call.getArgOperand(0), warp, blockIndex(b_, kernel_), mask, addresses, values});
}

void Publisher::point(const llvm::CallInst &call, Value *warp, Value *mask, Value *more) {
  callRuntime("opsight_publish_point",
              {ring(), call.getArgOperand(1), call.getArgOperand(0), warp, blockIndex(b_, kernel_), mask, more});
}

void Publisher::array(const llvm::CallInst &call, Value *warp, Value *mask, Value *address) {
  callRuntime("opsight_publish_array", {ring(), call.getArgOperand(0), warp, blockIndex(b_, kernel_), mask, address});
}

void Publisher::block(const llvm::CallInst &call, Value *mask) {
  uint64_t number = numberOf(call);
  Value *threads = b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, mask), b_.getInt64Ty());
  Value *warps = b_.CreateZExt(b_.CreateIsNotNull(mask), b_.getInt64Ty());
  auto add = [&](uint64_t offset, Value *amount) {
    Value *place = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ring(),
                                                 sizeof(WatchHeader) + number * sizeof(BlockVisits) + offset);
    b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), place), amount), place);
  };
  add(offsetof(BlockVisits, warps), warps);
  add(offsetof(BlockVisits, threads), threads);
}

} // namespace opsight::lower::watch
