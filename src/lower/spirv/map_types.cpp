// See map_types.h.
#include "lower/spirv/map_types.h"
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace opsight::lower::spirv {

llvm::Type *TypeMapper::remapType(llvm::Type *type) {
  if (auto found = known.find(type); found != known.end())
    return found->second;
  llvm::Type *mapped = map(type);
  known[type] = mapped;
  return mapped;
}

llvm::Type *TypeMapper::map(llvm::Type *type) {
  if (auto *array = llvm::dyn_cast<llvm::ArrayType>(type))
    return llvm::ArrayType::get(remapType(array->getElementType()), array->getNumElements());
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    return llvm::FixedVectorType::get(remapType(vector->getElementType()), vector->getNumElements());
  if (auto *structure = llvm::dyn_cast<llvm::StructType>(type))
    return mapStruct(structure);
  return mapScalar(type);
}

llvm::Type *TypeMapper::mapStruct(llvm::StructType *structure) {
  llvm::SmallVector<llvm::Type *> elements;
  for (llvm::Type *element : structure->elements())
    elements.push_back(remapType(element));
  if (structure->isOpaque() || elements == structure->elements())
    return structure;
  if (structure->isLiteral())
    return llvm::StructType::get(structure->getContext(), elements, structure->isPacked());
  return llvm::StructType::create(structure->getContext(), elements, structure->getName(), structure->isPacked());
}

// Shared variables have no initialiser, so the copy needs none.
static llvm::SmallVector<llvm::GlobalVariable *> mapSharedVariables(Context &context, TypeMapper &mapper,
                                                                    llvm::ValueToValueMapTy &values) {
  llvm::SmallVector<llvm::GlobalVariable *> variables;
  for (llvm::GlobalVariable &variable : context.module.globals())
    if (mapper.changes(variable.getValueType()))
      variables.push_back(&variable);
  for (llvm::GlobalVariable *variable : variables) {
    llvm::Type *type = mapper.remapType(variable->getValueType());
    auto *mapped = new llvm::GlobalVariable(context.module, type, variable->isConstant(), variable->getLinkage(),
                                            llvm::UndefValue::get(type), "", nullptr, llvm::GlobalValue::NotThreadLocal,
                                            variable->getAddressSpace());
    mapped->takeName(variable);
    mapped->setAlignment(variable->getAlign());
    values[variable] = mapped;
  }
  return variables;
}

void mapTypes(Context &context, TypeMapper &mapper, llvm::ValueMaterializer *constants) {
  llvm::Function *old = context.kernel;
  llvm::SmallVector<llvm::Type *> types;
  for (llvm::Argument &argument : old->args())
    types.push_back(mapper.remapType(argument.getType()));
  auto *fresh = llvm::Function::Create(llvm::FunctionType::get(old->getReturnType(), types, false), old->getLinkage(),
                                       "", &context.module);
  llvm::ValueToValueMapTy values;
  for (llvm::Argument &argument : old->args()) {
    values[&argument] = fresh->getArg(argument.getArgNo());
    fresh->getArg(argument.getArgNo())->setName(argument.getName());
  }
  auto replaced = mapSharedVariables(context, mapper, values);
  llvm::SmallVector<llvm::ReturnInst *> returns;
  llvm::CloneFunctionInto(fresh, old, values, llvm::CloneFunctionChangeType::GlobalChanges, returns, "", nullptr, &mapper,
                          constants);
  fresh->takeName(old);
  old->eraseFromParent();
  for (llvm::GlobalVariable *variable : replaced) {
    variable->removeDeadConstantUsers();
    if (variable->use_empty()) // else it would be counted as shared memory twice
      variable->eraseFromParent();
  }
  context.kernel = fresh;
}

} // namespace opsight::lower::spirv
