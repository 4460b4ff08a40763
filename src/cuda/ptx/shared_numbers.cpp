// See shared_numbers.h.
#include "cuda/ptx/shared_numbers.h"
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/Local.h>

namespace opsight::cuda::ptx {

using llvm::IRBuilder, llvm::Value;

static Value *callPure(IRBuilder<> &b, const char *name, llvm::Type *result, Value *argument) {
  llvm::Module *module = b.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee = module->getOrInsertFunction(name, result, argument->getType());
  auto *function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  function->addFnAttr(llvm::Attribute::Speculatable);
  return b.CreateCall(callee, argument);
}

Value *createSharedNumber(IRBuilder<> &b, Value *pointer) {
  return callPure(b, sharedNumberName, b.getInt32Ty(), b.CreateAddrSpaceCast(pointer, b.getPtrTy(sharedSpace)));
}

Value *createSharedPointer(IRBuilder<> &b, Value *number) {
  return callPure(b, sharedPointerName, b.getPtrTy(sharedSpace), number);
}

static llvm::CallInst *asCall(Value *value, const char *name) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(value);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == name ? call : nullptr;
}

// The pointer whose number stands at the root of a sum, and the rest of the sum; null where there is not just one.
static Value *rootOf(IRBuilder<> &b, Value *number, Value *&rest) {
  if (auto *root = asCall(number, sharedNumberName)) {
    rest = b.getInt32(0);
    return root->getArgOperand(0);
  }
  if (auto *narrowed = llvm::dyn_cast<llvm::TruncInst>(number)) // cvta's 64 bits made 32 again
    if (auto *widened = llvm::dyn_cast<llvm::ZExtInst>(narrowed->getOperand(0));
        widened && widened->getOperand(0)->getType() == number->getType())
      return rootOf(b, widened->getOperand(0), rest);
  auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(number);
  bool isOr =
      sum && sum->getOpcode() == llvm::Instruction::Or && llvm::cast<llvm::PossiblyDisjointInst>(sum)->isDisjoint();
  if (!sum || (sum->getOpcode() != llvm::Instruction::Add && !isOr))
    return nullptr;
  for (unsigned side : {0u, 1u})
    if (Value *root = rootOf(b, sum->getOperand(side), rest)) {
      rest = b.CreateAdd(rest, sum->getOperand(1 - side));
      return root;
    }
  return nullptr;
}

void foldSharedNumbers(llvm::Module &ir) {
  llvm::Function *maker = ir.getFunction(sharedPointerName);
  if (!maker)
    return;
  for (llvm::User *user : llvm::make_early_inc_range(maker->users())) {
    auto *call = llvm::cast<llvm::CallInst>(user);
    IRBuilder<> b(call);
    Value *rest = nullptr, *number = call->getArgOperand(0);
    Value *root = rootOf(b, number, rest);
    if (!root)
      continue;
    // A block's shared memory has less than 2^31 bytes, so a difference of numbers is one of 32 bits with a sign.
    call->replaceAllUsesWith(b.CreateGEP(b.getInt8Ty(), root, b.CreateSExt(rest, b.getInt64Ty())));
    call->eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructions(number);
  }
}

} // namespace opsight::cuda::ptx
