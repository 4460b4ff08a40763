// symbol_parameters: __constant__ and __device__ variables, string tables and constant tables become buffers that the
// session fills and passes, one parameter each, because OpenCL 1.2 kernels have no module-scope variables in memory
// that the host could write.
#include "lower/kernel.h"
#include "lower/spirv/passes.h"
#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/ReplaceConstant.h>
#include <optional>

namespace opsight::lower::spirv {

// The bytes of a constant, little endian; false where it holds an address, which only the device knows.
static bool writeBytes(const llvm::DataLayout &layout, const llvm::Constant *value, std::string &bytes, uint64_t offset) {
  if (llvm::isa<llvm::UndefValue>(value) || value->isNullValue())
    return true;
  std::optional<llvm::APInt> scalar;
  if (auto *integer = llvm::dyn_cast<llvm::ConstantInt>(value))
    scalar = integer->getValue();
  else if (auto *real = llvm::dyn_cast<llvm::ConstantFP>(value))
    scalar = real->getValueAPF().bitcastToAPInt();
  if (scalar) {
    unsigned width = scalar->getBitWidth();
    for (unsigned i = 0; 8 * i < width; ++i)
      bytes[offset + i] = char(scalar->extractBitsAsZExtValue(std::min(8u, width - 8 * i), 8 * i));
    return true;
  }
  auto *structure = llvm::dyn_cast<llvm::StructType>(value->getType());
  uint64_t count = structure ? structure->getNumElements()
                             : [&]() -> uint64_t {
    if (auto *array = llvm::dyn_cast<llvm::ArrayType>(value->getType()))
      return array->getNumElements();
    if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType()))
      return vector->getNumElements();
    return 0;
  }();
  for (uint64_t i = 0; i < count; ++i) {
    const llvm::Constant *element = value->getAggregateElement(unsigned(i));
    if (!element)
      return false;
    uint64_t at = structure ? layout.getStructLayout(structure)->getElementOffset(unsigned(i)).getFixedValue()
                            : i * layout.getTypeAllocSize(element->getType());
    if (!writeBytes(layout, element, bytes, offset + at))
      return false;
  }
  return count > 0;
}

static Status replaceVariable(Context &context, llvm::GlobalVariable &variable) {
  const llvm::DataLayout &layout = context.module.getDataLayout();
  card::Parameter parameter{.name = readableName(variable.getName()), .kind = card::Parameter::Kind::Symbol};
  parameter.bytes = uint32_t(layout.getTypeAllocSize(variable.getValueType()));
  parameter.alignment = uint32_t(variable.getAlign().valueOrOne().value());
  parameter.initial.assign(parameter.bytes, '\0');
  if (!variable.hasInitializer())
    return unsupported(fmt::format("the variable {} is declared but not defined here", parameter.name));
  if (!writeBytes(layout, variable.getInitializer(), parameter.initial, 0))
    return unsupported(fmt::format("the variable {} holds an address", parameter.name),
                       "fill it from the kernel instead");
  llvm::Argument *argument =
      appendParameter(context, llvm::PointerType::get(context.module.getContext(), globalSpace), std::move(parameter));
  llvm::IRBuilder<> builder(&*context.kernel->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  llvm::Value *pointer = argument;
  if (variable.getAddressSpace() != globalSpace)
    pointer = builder.CreateAddrSpaceCast(argument, variable.getType());
  variable.replaceAllUsesWith(pointer);
  variable.eraseFromParent();
  return {};
}

static Status run(Context &context) {
  llvm::SmallVector<llvm::GlobalVariable *> variables;
  llvm::SmallVector<llvm::Constant *> constants;
  for (llvm::GlobalVariable &variable : context.module.globals())
    if (variable.getAddressSpace() != sharedSpace && !variable.getName().starts_with("llvm.")) {
      variables.push_back(&variable);
      constants.push_back(&variable);
    }
  llvm::convertUsersOfConstantsToInstructions(constants);
  for (llvm::GlobalVariable *variable : variables) {
    variable->removeDeadConstantUsers();
    if (variable->use_empty()) {
      variable->eraseFromParent();
      continue;
    }
    for (llvm::User *user : variable->users())
      if (!llvm::isa<llvm::Instruction>(user))
        return unsupported(fmt::format("the address of {} is kept in another variable", readableName(variable->getName())));
    if (Status done = replaceVariable(context, *variable); !done)
      return done;
  }
  return {};
}

const Pass symbol_parameters{"symbol_parameters", "turn __constant__ and __device__ variables into buffers", run};

} // namespace opsight::lower::spirv
