#include "fuzz/program.h"
#include <cstring>
#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/raw_ostream.h>

namespace opsight::fuzz {

constexpr unsigned sharedSpace = 3;

unsigned Program::bits(const llvm::Type *type) const {
  type = type->getScalarType();
  return type->isPointerTy() ? 64 : unsigned(type->getPrimitiveSizeInBits().getFixedValue());
}

static uint64_t aligned(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Shared arrays one behind the other, those of dynamic size at one place behind them; constants in memory of their own.
void Program::placeGlobals(uint64_t dynamicSharedBytes) {
  uint64_t sharedSize = 0, constantSize = 0;
  std::vector<std::pair<const llvm::GlobalVariable *, uint64_t>> offsets;
  for (const llvm::GlobalVariable &global : kernel.getParent()->globals()) {
    uint64_t &size = global.getAddressSpace() == sharedSpace ? sharedSize : constantSize;
    if (global.isDeclaration())
      continue;
    offsets.push_back({&global, aligned(size, 16)});
    size = aligned(size, 16) + layout.getTypeAllocSize(global.getValueType());
  }
  sharedSize = aligned(sharedSize, 16);
  shared.resize(sharedSize + dynamicSharedBytes + 16);
  constants.resize(constantSize + 16);
  auto base = [](std::vector<std::byte> &bytes) { return aligned(reinterpret_cast<uint64_t>(bytes.data()), 16); };
  for (auto [global, offset] : offsets)
    addresses[global] = base(global->getAddressSpace() == sharedSpace ? shared : constants) + offset;
  for (const llvm::GlobalVariable &global : kernel.getParent()->globals())
    if (global.isDeclaration())
      addresses[&global] = base(shared) + sharedSize;
  for (auto [global, offset] : offsets)
    if (global->getAddressSpace() != sharedSpace)
      write(global->getInitializer(), reinterpret_cast<std::byte *>(addresses[global]));
  for (auto *bytes : {&shared, &constants})
    regions.push_back(
        {reinterpret_cast<uint64_t>(bytes->data()), reinterpret_cast<uint64_t>(bytes->data()) + bytes->size()});
}

void Program::write(const llvm::Constant *value, std::byte *to) {
  if (value->getType()->isArrayTy() || value->getType()->isStructTy()) {
    uint64_t count = value->getType()->isArrayTy() ? value->getType()->getArrayNumElements()
                                                   : value->getType()->getStructNumElements();
    for (unsigned i = 0; i < count; ++i) {
      const llvm::Constant *element = value->getAggregateElement(i);
      uint64_t offset =
          value->getType()->isArrayTy()
              ? i * layout.getTypeAllocSize(element->getType())
              : uint64_t(layout.getStructLayout(llvm::cast<llvm::StructType>(value->getType()))->getElementOffset(i));
      write(element, to + offset);
    }
    return;
  }
  uint64_t word = constant(value);
  std::memcpy(to, &word, layout.getTypeStoreSize(value->getType()));
}

uint64_t Program::constant(const llvm::Constant *value) {
  if (auto *integer = llvm::dyn_cast<llvm::ConstantInt>(value); integer && integer->getBitWidth() <= 64)
    return integer->getZExtValue();
  if (auto *real = llvm::dyn_cast<llvm::ConstantFP>(value))
    return real->getValueAPF().bitcastToAPInt().getZExtValue();
  if (value->isNullValue() || llvm::isa<llvm::UndefValue>(value))
    return 0;
  if (auto *global = llvm::dyn_cast<llvm::GlobalVariable>(value))
    return addresses.lookup(global);
  if (auto *element = llvm::dyn_cast<llvm::GEPOperator>(value)) {
    llvm::APInt offset(64, 0);
    if (element->accumulateConstantOffset(layout, offset))
      return constant(llvm::cast<llvm::Constant>(element->getPointerOperand())) + uint64_t(offset.getSExtValue());
  }
  if (auto *expression = llvm::dyn_cast<llvm::ConstantExpr>(value);
      expression && expression->isCast() && bits(expression->getType()) == 64)
    return constant(expression->getOperand(0));
  if (!llvm::isa<llvm::Function>(value) && !value->getType()->isMetadataTy())
    llvm::raw_string_ostream(refused = "a constant that is not known: ") << *value;
  return 0;
}

unsigned elementsOf(const llvm::Type *type) {
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    return vector->getNumElements();
  if (auto *array = llvm::dyn_cast<llvm::ArrayType>(type))
    return unsigned(array->getNumElements()) * elementsOf(array->getElementType());
  unsigned count = type->isStructTy() ? 0 : 1;
  for (unsigned i = 0; type->isStructTy() && i < type->getStructNumElements(); ++i)
    count += elementsOf(type->getStructElementType(i));
  return count;
}

unsigned elementsBefore(llvm::Type *&type, llvm::ArrayRef<unsigned> indices) {
  unsigned before = 0;
  for (unsigned index : indices) {
    if (auto *array = llvm::dyn_cast<llvm::ArrayType>(type)) {
      type = array->getElementType();
      before += index * elementsOf(type);
      continue;
    }
    for (unsigned i = 0; i < index; ++i)
      before += elementsOf(type->getStructElementType(i));
    type = type->getStructElementType(index);
  }
  return before;
}

unsigned Program::numberOf(llvm::Value *value) {
  auto [found, isNew] = numbers.try_emplace(value, unsigned(initial.size()));
  if (!isNew)
    return found->second;
  unsigned number = found->second;
  auto *known = llvm::dyn_cast<llvm::Constant>(value);
  known && !known->getType()->isMetadataTy() ? addConstant(known) : initial.resize(number + elementsOf(value->getType()), 0);
  return number;
}

void Program::addConstant(const llvm::Constant *value) {
  llvm::Type *type = value->getType();
  if (!type->isVectorTy() && !type->isAggregateType())
    return initial.push_back(constant(value));
  unsigned count = type->isVectorTy()   ? elementsOf(type)
                   : type->isStructTy() ? type->getStructNumElements()
                                        : unsigned(type->getArrayNumElements());
  for (unsigned i = 0; i < count; ++i)
    addConstant(value->getAggregateElement(i));
}

Program::Program(llvm::Function &kernel, uint64_t dynamicSharedBytes)
    : kernel(kernel), layout(kernel.getParent()->getDataLayout()) {
  placeGlobals(dynamicSharedBytes);
  for (llvm::Argument &argument : kernel.args())
    arguments.push_back(numberOf(&argument));
  for (llvm::BasicBlock &block : kernel)
    blockNumbers[&block] = unsigned(blockNumbers.size());
  for (llvm::BasicBlock &block : kernel) {
    std::vector<Step> &steps = blocks.emplace_back();
    for (llvm::Instruction &instruction : block) {
      Step step{&instruction, {}, 0};
      if (instruction.getType()->isIntOrIntVectorTy() && bits(instruction.getType()) > 64)
        refused = "long integers are not known";
      for (llvm::Use &operand : instruction.operands())
        step.operands.push_back(
            llvm::isa<llvm::BasicBlock>(operand) || llvm::isa<llvm::MetadataAsValue>(operand) ? 0 : numberOf(operand));
      if (!instruction.getType()->isVoidTy())
        step.result = numberOf(&instruction);
      if (auto *local = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
        stackBytes = aligned(stackBytes, 16) +
                     local->getAllocationSize(layout).value_or(llvm::TypeSize::getFixed(0)).getFixedValue();
      steps.push_back(std::move(step));
    }
  }
}

} // namespace opsight::fuzz
