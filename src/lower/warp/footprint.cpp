// See footprint.h. A vector's number is put into the address's expression, and the range of what is left (the lane,
// loops' counters) is what the vector may touch.
#include "lower/warp/footprint.h"
#include "lower/kernel.h"
#include "lower/warp/emitter.h"
#include "lower/warp/passes.h"
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

namespace opsight::lower::warp {

using llvm::Instruction, llvm::SCEV, llvm::Value;

constexpr int64_t farthest = int64_t(1) << 40; // what is said to lie beyond may be anywhere

Footprints::Footprints(llvm::Function &kernel, unsigned warps, llvm::ScalarEvolution &evolution)
    : kernel_(kernel), warps_(warps), evolution_(evolution) {}

// Expressions end at a change of address space; the way goes on behind it.
Footprints::Address Footprints::addressOf(Value *pointer) {
  const SCEV *offset = nullptr;
  for (;;) {
    const SCEV *address = evolution_.getSCEV(pointer);
    auto *root = llvm::dyn_cast<llvm::SCEVUnknown>(evolution_.getPointerBase(address));
    if (!root)
      return {nullptr, nullptr};
    const SCEV *more = evolution_.removePointerBase(address);
    if (offset && offset->getType() != more->getType())
      return {nullptr, nullptr};
    offset = offset ? evolution_.getAddExpr(offset, more) : more;
    auto *cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(root->getValue());
    if (!cast)
      return {root->getValue(), offset};
    pointer = cast->getPointerOperand();
  }
}

Footprint::Bytes Footprints::bytesOf(const SCEV *offset, unsigned warp, uint64_t size) {
  llvm::Argument *number = findArgument(kernel_, warpName);
  llvm::ValueToSCEVMapTy numbers{{number, evolution_.getConstant(number->getType(), warp)}};
  llvm::ConstantRange range =
      evolution_.getSignedRange(llvm::SCEVParameterRewriter::rewrite(offset, evolution_, numbers));
  int64_t first = range.getSignedMin().getSExtValue(), last = range.getSignedMax().getSExtValue();
  if (range.isFullSet() || first < -farthest || last > farthest)
    return {-farthest, farthest};
  return {first, last + int64_t(size)};
}

// Calls that answer each thread, or know their threads without memory, order nothing between vectors.
static bool touchesNothing(Instruction &instruction) {
  if (!instruction.mayReadOrWriteMemory() || instruction.isLifetimeStartOrEnd())
    return true;
  auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (!call)
    return instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load);
  if (call->getCalledFunction() && call->getCalledFunction()->getName() == retireName)
    return true; // a note about the vector's own threads
  return call->onlyAccessesInaccessibleMemory() || llvm::isa<llvm::DbgInfoIntrinsic>(call) ||
         llvm::isa<llvm::AssumeInst>(call);
}

std::optional<Footprint> Footprints::of(Instruction &instruction) {
  if (touchesNothing(instruction))
    return std::nullopt;
  Footprint result;
  result.writes = instruction.mayWriteToMemory();
  bool isPlain = llvm::isa<llvm::LoadInst>(instruction) || llvm::isa<llvm::StoreInst>(instruction);
  if (!isPlain || instruction.isVolatile() || instruction.isAtomic())
    return result;
  auto [root, offset] = addressOf(llvm::getLoadStorePointerOperand(&instruction));
  if (!root)
    return result;
  if (llvm::isa<llvm::AllocaInst>(root))
    return std::nullopt;
  if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(root); variable && variable->isConstant())
    return std::nullopt;
  result.root = llvm::dyn_cast<llvm::Argument>(root);
  if (!result.root)
    return result;
  bool isShared = result.root->getName() == staticName || result.root->getName() == sharedName;
  result.place = isShared ? Footprint::Shared : Footprint::Outside;
  if (!isShared)
    return result;
  llvm::TypeSize size = kernel_.getDataLayout().getTypeStoreSize(llvm::getLoadStoreType(&instruction));
  for (unsigned warp = 0; warp < warps_; ++warp)
    result.byWarp.push_back(bytesOf(offset, warp, size));
  return result;
}

static bool overlap(const Footprint &a, const Footprint &b) {
  for (size_t mine = 0; mine < a.byWarp.size(); ++mine)
    for (size_t other = 0; other < b.byWarp.size(); ++other)
      if (mine != other && a.byWarp[mine].first < b.byWarp[other].end && b.byWarp[other].first < a.byWarp[mine].end)
        return true;
  return false;
}

bool mayMeet(const Footprint &a, const Footprint &b) {
  if (!a.writes && !b.writes)
    return false;
  if (a.place == Footprint::Anywhere || b.place == Footprint::Anywhere)
    return true;
  if (a.place != b.place)
    return false;
  if (a.root != b.root)
    // Two parameters may be one buffer, unless one of them is said to be the only way to it.
    return a.place == Footprint::Outside && !a.root->hasNoAliasAttr() && !b.root->hasNoAliasAttr();
  return a.place == Footprint::Outside || overlap(a, b);
}

} // namespace opsight::lower::warp
