// See site.h.
#include "cuda/ptx/site.h"
#include "cuda/ptx/shared_numbers.h"
#include <bit>

namespace opsight::cuda::ptx {

using llvm::Value;
using Kind = Operand::Kind;

Register *Registers::find(const std::string &name) {
  for (Scope &scope : llvm::reverse(scopes))
    if (auto found = scope.find(name); found != scope.end())
      return &found->second;
  return nullptr;
}

static Value *asInteger(llvm::IRBuilder<> &b, Value *value) {
  llvm::Type *type = value->getType();
  if (type->isPointerTy())
    return b.CreatePtrToInt(value, b.getInt64Ty());
  unsigned width = unsigned(type->getPrimitiveSizeInBits().getFixedValue());
  return width ? b.CreateBitCast(value, b.getIntNTy(width)) : nullptr;
}

Value *Site::bits(const Operand &operand, unsigned width) {
  llvm::Type *wanted = b.getIntNTy(width);
  Value *nothing = llvm::Constant::getNullValue(wanted);
  if (operand.kind == Kind::Integer)
    return llvm::ConstantInt::getSigned(wanted, int64_t(operand.bits), /*ImplicitTrunc=*/true);
  if (operand.kind == Kind::Single && width == 32)
    return llvm::ConstantInt::get(wanted, operand.bits);
  if (operand.kind == Kind::Double && width == 64)
    return llvm::ConstantInt::get(wanted, operand.bits);
  if (operand.kind != Kind::Register || !operand.second.empty()) {
    refuse("an operand has a form that this instruction does not take");
    return nothing;
  }
  Value *value = nullptr;
  if (Register *known = registers.find(operand.name)) {
    value = known->value ? known->value : llvm::Constant::getNullValue(known->type);
    if (known->isConstant)
      return llvm::ConstantInt::getSigned(wanted, llvm::cast<llvm::ConstantInt>(value)->getSExtValue(), true);
  } else {
    value = specialRegister(b, operand.name);
  }
  value = value ? asInteger(b, value) : nullptr;
  if (!value || value->getType()->getIntegerBitWidth() < width) {
    refuse(value ? "'" + operand.name + "' is narrower than the instruction's type"
                 : "'" + operand.name + "' is no register here");
    return nothing;
  }
  value = b.CreateTrunc(value, wanted);
  if (operand.negated)
    value = b.CreateNot(value);
  return value;
}

std::optional<int64_t> Site::constant(const Operand &operand) {
  if (operand.kind == Kind::Integer)
    return int64_t(operand.bits);
  Register *known = operand.kind == Kind::Register ? registers.find(operand.name) : nullptr;
  auto *number = known && known->value ? llvm::dyn_cast<llvm::ConstantInt>(known->value) : nullptr;
  return number ? std::optional(number->getSExtValue()) : std::nullopt;
}

/// A floating-point literal where the instruction's type says how wide it is.
Value *Site::literal(const Operand &operand, const Type &type) {
  if (operand.kind == Kind::Double && type.bits == 32)
    return b.getInt32(std::bit_cast<uint32_t>(float(std::bit_cast<double>(operand.bits))));
  if (operand.kind == Kind::Integer) {
    refuse("a whole number stands for one of floating point");
    return llvm::Constant::getNullValue(b.getIntNTy(type.width()));
  }
  return bits(operand, type.width());
}

Value *Site::number(const Operand &operand, const Type &type) {
  bool isLiteral = operand.kind == Kind::Integer || operand.kind == Kind::Single || operand.kind == Kind::Double;
  return type.isFloat() && isLiteral ? literal(operand, type) : bits(operand, type.width());
}

Value *Site::predicate(const Operand &operand) {
  Register *known = operand.kind == Kind::Register ? registers.find(operand.name) : nullptr;
  if (!known || !known->type->isIntegerTy(1)) {
    refuse("a predicate is missing");
    return b.getFalse();
  }
  return bits(operand, 1);
}

void Site::write(const Operand &operand, Value *bits, bool isSigned) {
  if (operand.kind == Kind::Register && operand.name == "_")
    return;
  Register *target = operand.kind == Kind::Register ? registers.find(operand.name) : nullptr;
  if (!target || target->isInput || operand.negated || !operand.second.empty()) {
    refuse("a result goes to what is no register of its own");
    return;
  }
  bool isPointer = target->type->isPointerTy();
  unsigned width = isPointer ? 64 : unsigned(target->type->getPrimitiveSizeInBits().getFixedValue());
  unsigned given = bits->getType()->getIntegerBitWidth();
  if (given > width || (given == 1) != (width == 1)) {
    refuse("'" + operand.name + "' has another width than the result");
    return;
  }
  llvm::Type *integer = b.getIntNTy(width);
  bits = isSigned ? b.CreateSExt(bits, integer) : b.CreateZExt(bits, integer);
  target->value = isPointer ? b.CreateIntToPtr(bits, target->type) : b.CreateBitCast(bits, target->type);
}

Value *Site::address(size_t i, unsigned space) {
  const Operand &place = operand(i);
  Value *nothing = llvm::Constant::getNullValue(b.getPtrTy(space));
  if (place.kind != Kind::Address) {
    refuse("an address in brackets is missing");
    return nothing;
  }
  Register *base = registers.find(place.name);
  std::optional<int64_t> offset = int64_t(place.bits);
  if (!place.second.empty())
    offset = constant({.name = place.second});
  if (!base || !base->value || !offset) {
    refuse(offset ? "'" + place.name + "' is no register here" : "'" + place.second + "' is not known at compile time");
    return nothing;
  }
  if (space == sharedSpace) {
    Value *number = asInteger(b, base->value);
    if (number->getType()->getIntegerBitWidth() < 32) {
      refuse("an address of shared memory has 32 or 64 bits");
      return nothing;
    }
    number = b.CreateTrunc(number, b.getInt32Ty());
    return createSharedPointer(b, b.CreateAdd(number, b.getInt32(uint32_t(*offset))));
  }
  Value *pointer = base->value;
  if (!pointer->getType()->isPointerTy()) {
    Value *number = asInteger(b, pointer);
    if (number->getType()->getIntegerBitWidth() != 64) {
      refuse("an address of global memory has 64 bits");
      return nothing;
    }
    pointer = b.CreateIntToPtr(number, b.getPtrTy());
  }
  if (*offset)
    pointer = b.CreateGEP(b.getInt8Ty(), pointer, b.getInt64(uint64_t(*offset)));
  return b.CreateAddrSpaceCast(pointer, b.getPtrTy(space));
}

} // namespace opsight::cuda::ptx
