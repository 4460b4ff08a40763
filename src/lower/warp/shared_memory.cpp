// shared_memory: static shared arrays get their places in the block's static memory, `extern __shared__` arrays are its
// dynamic memory; both come as parameters. Numbers of places in it (cuda/ptx/shared_numbers.h) count static memory's bytes
// from 0 and dynamic memory's from behind it.
#include "cuda/ptx/shared_numbers.h"
#include "lower/kernel.h"
#include "lower/native/passes.h"
#include "lower/warp/passes.h"
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/ReplaceConstant.h>

namespace opsight::lower::warp {

constexpr uint64_t arrayAlignment = 64; // a cache line: a row that starts an array costs one
// Programs swizzle numbers by xor, which stays within as much as both sides are aligned to.
constexpr uint64_t numberAlignment = 1024;

using llvm::Value;

namespace {
/// Where the block's memory is, and how its bytes are numbered.
struct Numbering {
  Value *statics, *dynamic;
  uint64_t used;    // bytes of static memory
  bool usesDynamic;

  bool both() const { return usesDynamic && used; }
  uint64_t firstDynamic() const { return llvm::alignTo(used, numberAlignment); }
  Value *numberOf(llvm::IRBuilder<> &b, Value *pointer) const;
  Value *pointerOf(llvm::IRBuilder<> &b, Value *number) const;
};
} // namespace

Value *Numbering::numberOf(llvm::IRBuilder<> &b, Value *pointer) const {
  auto behind = [&](Value *base) {
    return b.CreateSub(b.CreatePtrToInt(pointer, b.getInt64Ty()), b.CreatePtrToInt(base, b.getInt64Ty()));
  };
  auto *array = llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(pointer));
  bool isKnown = !both() || (array && array->getAddressSpace() == native::sharedSpace);
  bool isDynamic = !both() ? usesDynamic : isKnown && array->isDeclaration();
  Value *number = isKnown && isDynamic ? nullptr : behind(statics);
  if (!isKnown || isDynamic) {
    Value *ofDynamic = b.CreateAdd(behind(dynamic), b.getInt64(firstDynamic()));
    number = isKnown ? ofDynamic : b.CreateSelect(b.CreateICmpULT(number, b.getInt64(used)), number, ofDynamic);
  }
  return b.CreateTrunc(number, b.getInt32Ty());
}

Value *Numbering::pointerOf(llvm::IRBuilder<> &b, Value *number) const {
  Value *offset = b.CreateZExt(number, b.getInt64Ty());
  Value *first = b.getInt64(firstDynamic());
  Value *pointer = usesDynamic ? b.CreateGEP(b.getInt8Ty(), dynamic, used ? b.CreateSub(offset, first) : offset)
                               : b.CreateGEP(b.getInt8Ty(), statics, offset);
  if (both())
    pointer = b.CreateSelect(b.CreateICmpULT(offset, first), b.CreateGEP(b.getInt8Ty(), statics, offset), pointer);
  return b.CreateAddrSpaceCast(pointer, b.getPtrTy(native::sharedSpace));
}

static void replaceNumbers(llvm::Module &module, const Numbering &numbering) {
  for (bool toPointer : {false, true}) {
    llvm::Function *asked = module.getFunction(toPointer ? cuda::ptx::sharedPointerName : cuda::ptx::sharedNumberName);
    if (!asked)
      continue;
    for (llvm::User *user : llvm::make_early_inc_range(asked->users())) {
      auto *call = llvm::cast<llvm::CallInst>(user);
      llvm::IRBuilder<> b(call);
      Value *argument = call->getArgOperand(0);
      call->replaceAllUsesWith(toPointer ? numbering.pointerOf(b, argument) : numbering.numberOf(b, argument));
      call->eraseFromParent();
    }
    asked->eraseFromParent();
  }
}

/// Where each static array begins, one behind the other, and how many bytes all take.
static std::pair<llvm::DenseMap<llvm::GlobalVariable *, uint64_t>, uint64_t>
layOut(llvm::ArrayRef<llvm::GlobalVariable *> arrays) {
  llvm::DenseMap<llvm::GlobalVariable *, uint64_t> begins;
  uint64_t used = 0;
  for (llvm::GlobalVariable *array : arrays) {
    if (array->isDeclaration())
      continue;
    used = llvm::alignTo(used, std::max(array->getAlign().valueOrOne(), llvm::Align(arrayAlignment)));
    begins[array] = used;
    used += array->getDataLayout().getTypeAllocSize(array->getValueType());
  }
  return {begins, used};
}

static Status run(Context &context) {
  llvm::SmallVector<llvm::GlobalVariable *> arrays;
  for (llvm::GlobalVariable &variable : context.module.globals())
    if (variable.getAddressSpace() == native::sharedSpace)
      arrays.push_back(&variable);
  auto [begins, used] = layOut(arrays);
  bool usesDynamic = llvm::any_of(arrays, [](llvm::GlobalVariable *array) { return array->isDeclaration(); });
  Value *statics = findArgument(*context.kernel, staticName), *dynamic = findArgument(*context.kernel, sharedName);
  replaceNumbers(context.module, {statics, dynamic, used, usesDynamic}); // while it can be seen which array is meant
  llvm::SmallVector<llvm::Constant *> constants(arrays.begin(), arrays.end());
  llvm::convertUsersOfConstantsToInstructions(constants);
  llvm::IRBuilder<> builder(&*context.kernel->getEntryBlock().getFirstInsertionPt());
  for (llvm::GlobalVariable *array : arrays) {
    array->removeDeadConstantUsers();
    Value *home = dynamic;
    if (!array->isDeclaration())
      home = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), statics, begins[array], array->getName());
    array->replaceAllUsesWith(builder.CreateAddrSpaceCast(home, array->getType()));
    array->eraseFromParent();
  }
  context.manifest.staticSharedBytes = used;
  if (usesDynamic)
    context.manifest.parameters.push_back(
        {.name = "", .kind = card::Parameter::Kind::DynamicShared, .bytes = 0, .alignment = 16});
  return {};
}

const Pass shared_memory{"shared_memory", "shared arrays get their places in the block's memory", run};

} // namespace opsight::lower::warp
