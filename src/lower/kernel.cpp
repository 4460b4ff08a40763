// See kernel.h.
#include "lower/kernel.h"
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>

namespace opsight::lower {

// Of a parameter's attributes only those survive that say something to a driver.
static void copyParameterAttributes(const llvm::Argument &from, llvm::Argument &to) {
  if (from.hasByValAttr()) {
    to.addAttr(llvm::Attribute::getWithByValType(to.getContext(), from.getParamByValType()));
    if (llvm::MaybeAlign align = from.getParamAlign())
      to.addAttr(llvm::Attribute::getWithAlignment(to.getContext(), *align));
  }
  if (from.hasNoAliasAttr() && to.getType()->isPointerTy())
    to.addAttr(llvm::Attribute::NoAlias);
}

llvm::Function *replaceSignature(Context &context, llvm::ArrayRef<llvm::Type *> types, llvm::Type *result) {
  llvm::Function *old = context.kernel;
  auto *type = llvm::FunctionType::get(result ? result : old->getReturnType(), types, false);
  auto *fresh = llvm::Function::Create(type, old->getLinkage(), old->getAddressSpace(), "", &context.module);
  fresh->takeName(old);
  fresh->setCallingConv(old->getCallingConv());
  fresh->addFnAttrs(llvm::AttrBuilder(old->getContext(), old->getAttributes().getFnAttrs()));
  fresh->splice(fresh->begin(), old);
  llvm::SmallVector<std::pair<unsigned, llvm::MDNode *>> metadata;
  old->getAllMetadata(metadata);
  old->clearMetadata();
  for (auto [kind, node] : metadata)
    fresh->setMetadata(kind, node);
  for (unsigned i = 0; i < std::min(old->arg_size(), fresh->arg_size()); ++i) {
    fresh->getArg(i)->takeName(old->getArg(i));
    copyParameterAttributes(*old->getArg(i), *fresh->getArg(i));
  }
  context.kernel = fresh;
  return old;
}

llvm::Argument *appendParameter(Context &context, llvm::Type *type, card::Parameter description) {
  llvm::SmallVector<llvm::Type *> types(context.kernel->getFunctionType()->params());
  types.push_back(type);
  llvm::Function *old = replaceSignature(context, types);
  for (llvm::Argument &argument : old->args())
    argument.replaceAllUsesWith(context.kernel->getArg(argument.getArgNo()));
  old->eraseFromParent();
  llvm::Argument *added = context.kernel->getArg(context.kernel->arg_size() - 1);
  added->setName(description.name);
  context.manifest.parameters.push_back(std::move(description));
  return added;
}

llvm::Argument *findArgument(llvm::Function &function, llvm::StringRef name) {
  for (llvm::Argument &argument : function.args())
    if (argument.getName() == name)
      return &argument;
  return nullptr;
}

llvm::GlobalVariable *createShared(Context &context, llvm::Type *type, llvm::StringRef name) {
  auto *array = new llvm::GlobalVariable(context.module, type, false, llvm::GlobalValue::InternalLinkage,
                                         llvm::UndefValue::get(type), name, nullptr,
                                         llvm::GlobalValue::NotThreadLocal, 3);
  array->setAlignment(llvm::Align(16));
  return array;
}

} // namespace opsight::lower
