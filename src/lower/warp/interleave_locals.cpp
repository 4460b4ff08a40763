// interleave_locals: a thread's local array becomes an array of the warp: element i of all threads side by side, so that
// threads that read the same index read one vector. An array that is read in several widths, or whose address is chosen
// at run time, has each thread's copy in one piece instead.
#include "lower/warp/divergence.h"
#include "lower/warp/passes.h"
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace opsight::lower::warp {

using llvm::Value;

namespace {
struct Uses {
  llvm::SmallVector<llvm::Instruction *> addresses; // that lead on from the array, in order
  uint64_t width = 0;                               // of every access
  bool regular = true;
};
} // namespace

static void gather(Value *pointer, const llvm::DataLayout &layout, Uses &uses) {
  for (llvm::User *user : pointer->users()) {
    auto access = [&](llvm::Type *type) {
      uint64_t width = layout.getTypeStoreSize(type);
      uses.regular &= !type->isVectorTy() && !type->isAggregateType() && (uses.width == 0 || uses.width == width);
      uses.width = width;
    };
    auto *store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(user))
      access(load->getType());
    else if (store && store->getValueOperand() != pointer)
      access(store->getValueOperand()->getType());
    else if (llvm::isa<llvm::GetElementPtrInst>(user) || llvm::isa<llvm::AddrSpaceCastInst>(user)) {
      uses.addresses.push_back(llvm::cast<llvm::Instruction>(user));
      gather(user, layout, uses);
    } else if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(user); !call || !call->isLifetimeStartOrEnd())
      uses.regular = false;
  }
}

static bool movesByWholeElements(const Uses &uses, const llvm::DataLayout &layout) {
  if (!uses.regular || uses.width == 0)
    return false;
  return llvm::all_of(uses.addresses, [&](llvm::Instruction *address) {
    auto *element = llvm::dyn_cast<llvm::GetElementPtrInst>(address);
    if (!element)
      return true;
    llvm::SmallMapVector<Value *, llvm::APInt, 4> variable;
    llvm::APInt constant(64, 0);
    if (!element->collectOffset(layout, 64, variable, constant))
      return false;
    bool whole = constant.getSExtValue() % int64_t(uses.width) == 0;
    for (auto &[index, stride] : variable)
      whole &= stride.getSExtValue() % int64_t(uses.width) == 0;
    return whole;
  });
}

static Value *laneOffset(llvm::IRBuilder<> &b, unsigned lanes, uint64_t stride) {
  return b.CreateMul(b.CreateZExt(createLane(b, lanes), b.getInt64Ty()), b.getInt64(stride), "", true, true);
}

static void dropLifetimes(llvm::AllocaInst &array) {
  for (llvm::User *user : llvm::make_early_inc_range(array.users()))
    if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(user); call && call->isLifetimeStartOrEnd())
      call->eraseFromParent();
}

static void interleave(llvm::AllocaInst &array, unsigned lanes, const llvm::DataLayout &layout) {
  dropLifetimes(array);
  Uses uses;
  gather(&array, layout, uses);
  llvm::IRBuilder<> b(&*array.getFunction()->getEntryBlock().begin());
  uint64_t size = layout.getTypeAllocSize(array.getAllocatedType());
  bool whole = movesByWholeElements(uses, layout) && size % uses.width == 0;
  auto *shared = b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), size * lanes), nullptr, array.getName());
  shared->setAlignment(llvm::Align(64));
  b.SetInsertPoint(&array);
  Value *own = b.CreateInBoundsGEP(b.getInt8Ty(), shared, laneOffset(b, lanes, whole ? uses.width : size));
  if (whole)
    for (llvm::Instruction *address : uses.addresses)
      if (auto *element = llvm::dyn_cast<llvm::GetElementPtrInst>(address)) {
        b.SetInsertPoint(element);
        Value *offset = b.CreateMul(llvm::emitGEPOffset(&b, layout, element), b.getInt64(lanes), "", false, true);
        Value *moved = b.CreateInBoundsGEP(b.getInt8Ty(), element->getPointerOperand(), offset, element->getName());
        element->replaceAllUsesWith(moved);
        element->eraseFromParent();
      }
  array.replaceAllUsesWith(own);
  array.eraseFromParent();
}

static Status run(Context &context) {
  llvm::SmallVector<llvm::AllocaInst *> arrays;
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel))
    if (auto *array = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
      if (!array->isStaticAlloca())
        return unsupported("an array whose length is known only at run time (alloca)", "give it a constant length",
                           placeOf(*array));
      arrays.push_back(array);
    }
  for (llvm::AllocaInst *array : arrays)
    interleave(*array, context.target.lanes, context.module.getDataLayout());
  return {};
}

const Pass interleave_locals{"interleave_locals", "local arrays hold the warp's threads side by side", run};

} // namespace opsight::lower::warp
