// remap_address_spaces: from CUDA's numbers to SPIR-V's. Generic 0 → 4, the stack 5 → 0 (Function), constant 4 → 1
// (those variables are buffers now); global 1 and shared 3 are the same in both. The kernel is cloned with every type
// mapped; nothing else in the module may mention a generic pointer by now.
#include "lower/spirv/passes.h"
#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

namespace opsight::lower::spirv {

namespace {
class AddressSpaceMapper : public llvm::ValueMapTypeRemapper {
public:
  llvm::Type *remapType(llvm::Type *type) override {
    if (auto found = known.find(type); found != known.end())
      return found->second;
    llvm::Type *mapped = map(type);
    known[type] = mapped;
    return mapped;
  }

private:
  llvm::Type *map(llvm::Type *type) {
    if (type->isPointerTy())
      return llvm::PointerType::get(type->getContext(), space(type->getPointerAddressSpace()));
    if (auto *array = llvm::dyn_cast<llvm::ArrayType>(type))
      return llvm::ArrayType::get(remapType(array->getElementType()), array->getNumElements());
    if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
      return llvm::FixedVectorType::get(remapType(vector->getElementType()), vector->getNumElements());
    if (auto *structure = llvm::dyn_cast<llvm::StructType>(type))
      return mapStruct(structure);
    return type;
  }
  llvm::Type *mapStruct(llvm::StructType *structure) {
    llvm::SmallVector<llvm::Type *> elements;
    for (llvm::Type *element : structure->elements())
      elements.push_back(remapType(element));
    if (structure->isOpaque() || elements == structure->elements())
      return structure;
    if (structure->isLiteral())
      return llvm::StructType::get(structure->getContext(), elements, structure->isPacked());
    return llvm::StructType::create(structure->getContext(), elements, structure->getName(), structure->isPacked());
  }
  static unsigned space(unsigned cuda) {
    switch (cuda) {
    case genericSpace: return 4;
    case constantSpace: return 1;
    case localSpace: return 0;
    default: return cuda;
    }
  }
  llvm::DenseMap<llvm::Type *, llvm::Type *> known;
};
} // namespace

static void mapSharedVariables(Context &context, AddressSpaceMapper &mapper, llvm::ValueToValueMapTy &values) {
  llvm::SmallVector<llvm::GlobalVariable *> variables;
  for (llvm::GlobalVariable &variable : context.module.globals())
    if (mapper.remapType(variable.getValueType()) != variable.getValueType())
      variables.push_back(&variable);
  for (llvm::GlobalVariable *variable : variables) {
    llvm::Type *type = mapper.remapType(variable->getValueType());
    auto *mapped = new llvm::GlobalVariable(context.module, type, variable->isConstant(), variable->getLinkage(),
                                            llvm::UndefValue::get(type), variable->getName(), nullptr,
                                            llvm::GlobalValue::NotThreadLocal, variable->getAddressSpace());
    mapped->setAlignment(variable->getAlign());
    values[variable] = mapped;
  }
}

static llvm::Function *cloneKernel(Context &context, AddressSpaceMapper &mapper) {
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
  mapSharedVariables(context, mapper, values);
  llvm::SmallVector<llvm::ReturnInst *> returns;
  llvm::CloneFunctionInto(fresh, old, values, llvm::CloneFunctionChangeType::GlobalChanges, returns, "", nullptr, &mapper);
  fresh->takeName(old);
  old->eraseFromParent();
  return fresh;
}

// Constant and global memory are one now, so a cast between them is none.
static void dropIdleCasts(llvm::Function &kernel) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(kernel)))
    if (auto *cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&instruction);
        cast && cast->getSrcTy() == cast->getDestTy()) {
      cast->replaceAllUsesWith(cast->getPointerOperand());
      cast->eraseFromParent();
    }
}

static Status run(Context &context) {
  AddressSpaceMapper mapper;
  for (llvm::Instruction &instruction : llvm::instructions(*context.kernel))
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      for (llvm::Value *argument : call->args())
        if (mapper.remapType(argument->getType()) != argument->getType())
          return unsupported(fmt::format("the call {}", readableName(call->getCalledFunction()->getName())), "",
                             placeOf(*call));
  context.kernel = cloneKernel(context, mapper);
  dropIdleCasts(*context.kernel);
  return {};
}

const Pass remap_address_spaces{"remap_address_spaces", "from CUDA's address spaces to SPIR-V's", run};

} // namespace opsight::lower::spirv
