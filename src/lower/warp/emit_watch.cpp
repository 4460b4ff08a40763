// What a watched kernel says of itself (lower/watch/calls.h), published for all threads of a warp at once.
#include "lower/kernel.h"
#include "lower/warp/emitter.h"
#include "lower/warp/passes.h"

namespace opsight::lower::warp {

using llvm::Value;

// One word a lane, for the function that publishes; lanes that are not there may hold poison.
Value *Emitter::inMemory(llvm::AllocaInst *&words, Value *values) {
  if (!words)
    words = slot(llvm::ArrayType::get(values->getType()->getScalarType(), card::warpLanes));
  b.CreateAlignedStore(b.CreateFreeze(values), words, words->getAlign());
  return words;
}

void Emitter::publish(llvm::CallInst &call, watch::Say what, Value *mask) {
  watch::Publisher publisher(b, warp);
  Value *here = b.CreateZExtOrTrunc(bits(mask), b.getInt32Ty()), *number = findArgument(warp, warpName);
  auto one = [&](Value *value) { return shape(value).isUniform() ? scalar(value) : someThreads(value, mask); };
  switch (what) {
  case watch::Say::Access:
  case watch::Say::Store: {
    Value *addresses = inMemory(publishedAddresses, vector(call.getArgOperand(1)));
    Value *values = what == watch::Say::Store ? inMemory(publishedValues, vector(call.getArgOperand(2))) : nullptr;
    publisher.access(call, number, here, addresses, values);
    return;
  }
  case watch::Say::Point:
    publisher.point(call, number, here, one(call.getArgOperand(2)));
    return;
  case watch::Say::Array:
    publisher.array(call, number, here, one(call.getArgOperand(1)));
    return;
  case watch::Say::Block:
    publisher.block(call, here);
    return;
  default: // what only checks say
    return;
  }
}

} // namespace opsight::lower::warp
