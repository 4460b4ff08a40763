// soft_half: on a card without half precision a half is held in 16 bits and computed in float, rounded once to the very
// bits of IEEE half hardware. Two steps, each valid IR: first every operation on halves becomes one on their bits, so that
// halves are only kept and moved; then the type itself becomes i16 wherever it is mentioned.
//
// A float has 24 bits of precision, over 2 · 11 + 2: rounding the float result of + - · / √ again, to half, gives what one
// rounding would, subnormal halves included. Integers over 2²⁴, which a float would round, are infinite as halves anyway.
// Needs one function (inline_all), variables as buffers (symbol_parameters) and multiply-adds fused while products can
// still be told (contract_multiply_add); leaves floats and doubles for the passes behind it.
#include "lower/float_class.h"
#include "lower/half_bits.h"
#include "lower/spirv/map_types.h"
#include "lower/spirv/passes.h"
#include <fmt/format.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/ReplaceConstant.h>

namespace opsight::lower::spirv {
namespace {

using llvm::Constant, llvm::Instruction, llvm::IRBuilderBase, llvm::Type, llvm::Value;

class HalfMapper : public TypeMapper {
  Type *mapScalar(Type *type) override { return type->isHalfTy() ? Type::getInt16Ty(type->getContext()) : type; }
};

/// Constants of types that hold halves, as their bits.
class HalfConstants : public llvm::ValueMaterializer {
public:
  explicit HalfConstants(HalfMapper &mapper) : mapper(mapper) {}
  Value *materialize(Value *value) override {
    auto *constant = llvm::dyn_cast<Constant>(value);
    return constant && mapper.changes(constant->getType()) ? bitsOf(constant) : nullptr;
  }

private:
  /// Null for a constant expression, which the cloner maps by its operands.
  Constant *bitsOf(Constant *constant) {
    Type *to = mapper.remapType(constant->getType());
    if (to == constant->getType())
      return constant;
    if (llvm::isa<llvm::PoisonValue>(constant))
      return llvm::PoisonValue::get(to);
    if (llvm::isa<llvm::UndefValue>(constant))
      return llvm::UndefValue::get(to);
    if (constant->isNullValue())
      return Constant::getNullValue(to);
    if (auto *real = llvm::dyn_cast<llvm::ConstantFP>(constant))
      return llvm::ConstantInt::get(to, real->getValueAPF().bitcastToAPInt());
    llvm::SmallVector<Constant *> elements;
    while (Constant *element = constant->getAggregateElement(unsigned(elements.size()))) {
      elements.push_back(bitsOf(element));
      if (!elements.back())
        return nullptr;
    }
    if (llvm::isa<llvm::ConstantExpr>(constant) || elements.empty())
      return nullptr;
    if (auto *array = llvm::dyn_cast<llvm::ArrayType>(to))
      return llvm::ConstantArray::get(array, elements);
    if (auto *structure = llvm::dyn_cast<llvm::StructType>(to))
      return llvm::ConstantStruct::get(structure, elements);
    return llvm::ConstantVector::get(elements);
  }

  HalfMapper &mapper;
};

bool isHalf(const Type *type) { return type->getScalarType()->isHalfTy(); }
Type *likeHalf(Type *type, Type *scalar) { return type->getWithNewType(scalar); }

/// Rewrites one instruction at the builder; all values it takes and makes are still halves.
class Operation {
public:
  Operation(IRBuilderBase &b, Instruction &instruction) : b(b), op(instruction) {}

  /// The value that replaces the instruction; null where it has no form without half.
  Value *lower() {
    switch (op.getOpcode()) {
    case Instruction::FNeg:
      return half(b.CreateXor(bits(0), word(0x8000)));
    case Instruction::FAdd:
    case Instruction::FSub:
    case Instruction::FMul:
    case Instruction::FDiv:
    case Instruction::FRem:
      return rounded(b.CreateBinOp(Instruction::BinaryOps(op.getOpcode()), real(0), real(1)));
    case Instruction::FCmp:
      return b.CreateFCmp(llvm::cast<llvm::FCmpInst>(op).getPredicate(), real(0), real(1));
    case Instruction::FPExt:
      return b.CreateFPExt(real(0), op.getType());
    case Instruction::FPTrunc:
      return rounded(op.getOperand(0));
    case Instruction::FPToSI:
    case Instruction::FPToUI:
      return b.CreateCast(Instruction::CastOps(op.getOpcode()), real(0), op.getType());
    case Instruction::SIToFP:
    case Instruction::UIToFP:
      return rounded(b.CreateCast(Instruction::CastOps(op.getOpcode()), op.getOperand(0),
                                  likeHalf(op.getType(), b.getFloatTy())));
    case Instruction::Call:
      return call(llvm::cast<llvm::CallInst>(op));
    default:
      return nullptr;
    }
  }

private:
  Value *bits(unsigned operand) {
    Value *value = op.getOperand(operand);
    return b.CreateBitCast(value, likeHalf(value->getType(), b.getInt16Ty()));
  }
  Value *real(unsigned operand) { return floatOfHalf(b, bits(operand)); }
  Value *half(Value *bits) { return b.CreateBitCast(bits, likeHalf(bits->getType(), b.getHalfTy())); }
  Value *rounded(Value *real) { return half(roundToHalf(b, real)); }
  Constant *word(uint16_t value) {
    return llvm::ConstantInt::get(likeHalf(op.getOperand(0)->getType(), b.getInt16Ty()), value);
  }

  Value *call(llvm::CallInst &call) {
    switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::fabs:
      return half(b.CreateAnd(bits(0), word(0x7FFF)));
    case llvm::Intrinsic::copysign:
      return half(b.CreateOr(b.CreateAnd(bits(0), word(0x7FFF)), b.CreateAnd(bits(1), word(0x8000))));
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::fmuladd:
      return half(fuseHalves(b, bits(0), bits(1), bits(2)));
    case llvm::Intrinsic::is_fpclass:
      return isOfClass(b, bits(0), 10, unsigned(llvm::cast<llvm::ConstantInt>(op.getOperand(1))->getZExtValue()));
    default:
      return inFloat(call);
    }
  }

  // The same intrinsic on floats, rounded: exact where the result is a half already (floor, maxnum), once else.
  Value *inFloat(llvm::CallInst &call) {
    llvm::Function *callee = call.getCalledFunction();
    llvm::SmallVector<Type *> overloads;
    if (!callee || !llvm::Intrinsic::getIntrinsicSignature(callee, overloads) || llvm::none_of(overloads, isHalf))
      return nullptr;
    for (Type *&type : overloads)
      if (isHalf(type))
        type = likeHalf(type, b.getFloatTy());
    llvm::SmallVector<Value *> arguments;
    for (unsigned i = 0; i < call.arg_size(); ++i)
      arguments.push_back(isHalf(call.getArgOperand(i)->getType()) ? real(i) : call.getArgOperand(i));
    Value *result = b.CreateIntrinsic(callee->getIntrinsicID(), overloads, arguments);
    auto *structure = llvm::dyn_cast<llvm::StructType>(call.getType());
    if (!structure)
      return isHalf(call.getType()) ? rounded(result) : result;
    Value *fields = llvm::PoisonValue::get(structure);
    for (unsigned i = 0; i < structure->getNumElements(); ++i) {
      Value *field = b.CreateExtractValue(result, i);
      fields = b.CreateInsertValue(fields, isHalf(structure->getElementType(i)) ? rounded(field) : field, i);
    }
    return fields;
  }

  IRBuilderBase &b;
  Instruction &op;
};

/// Whether it keeps or moves values without looking at them, or makes others of their bits.
bool onlyMoves(const Instruction &instruction) {
  switch (instruction.getOpcode()) {
  case Instruction::Load:
  case Instruction::Store:
  case Instruction::PHI:
  case Instruction::Select:
  case Instruction::Freeze:
  case Instruction::BitCast:
  case Instruction::ExtractElement:
  case Instruction::InsertElement:
  case Instruction::ShuffleVector:
  case Instruction::ExtractValue:
  case Instruction::InsertValue:
    return true;
  default:
    return false;
  }
}

bool takesOrMakesHalves(HalfMapper &mapper, const Instruction &instruction) {
  return mapper.changes(instruction.getType()) ||
         llvm::any_of(instruction.operands(), [&](const llvm::Use &use) { return mapper.changes(use->getType()); });
}

bool mentionsHalf(HalfMapper &mapper, Context &context) {
  for (llvm::GlobalVariable &variable : context.module.globals())
    if (mapper.changes(variable.getValueType()))
      return true;
  for (Instruction &instruction : llvm::instructions(*context.kernel)) {
    auto *local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
    if (takesOrMakesHalves(mapper, instruction) || (local && mapper.changes(local->getAllocatedType())) ||
        (address && mapper.changes(address->getSourceElementType())))
      return true;
  }
  return llvm::any_of(context.kernel->args(), [&](const llvm::Argument &argument) {
    return mapper.changes(argument.getType()) ||
           (argument.hasByValAttr() && mapper.changes(argument.getParamByValType()));
  });
}

Status lowerOperations(HalfMapper &mapper, llvm::Function &kernel) {
  for (Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(kernel))) {
    if (onlyMoves(instruction) || !takesOrMakesHalves(mapper, instruction))
      continue;
    llvm::IRBuilder<> builder(&instruction);
    Value *lowered = Operation(builder, instruction).lower();
    if (!lowered) {
      auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      std::string what = call && call->getCalledFunction() ? readableName(call->getCalledFunction()->getName())
                                                           : std::string("'") + instruction.getOpcodeName() + "'";
      return unsupported(fmt::format("{} in half precision on a card that has none", what), "compute it in float",
                         placeOf(instruction));
    }
    instruction.replaceAllUsesWith(lowered);
    instruction.eraseFromParent();
  }
  return {};
}

void mapStructParameters(HalfMapper &mapper, llvm::Function &kernel) {
  for (llvm::Argument &argument : kernel.args())
    if (argument.hasByValAttr()) {
      Type *type = mapper.remapType(argument.getParamByValType());
      argument.removeAttr(llvm::Attribute::ByVal);
      argument.addAttr(llvm::Attribute::getWithByValType(kernel.getContext(), type));
    }
}

// Between a half and its bits, which are one now.
void dropIdleCasts(llvm::Function &kernel) {
  for (Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(kernel)))
    if (auto *cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction); cast && cast->getSrcTy() == cast->getDestTy()) {
      cast->replaceAllUsesWith(cast->getOperand(0));
      cast->eraseFromParent();
    }
}

Status run(Context &context) {
  HalfMapper mapper;
  if (context.target.hasHalf || !mentionsHalf(mapper, context))
    return {};
  llvm::SmallVector<Constant *> variables;
  for (llvm::GlobalVariable &variable : context.module.globals())
    variables.push_back(&variable);
  llvm::convertUsersOfConstantsToInstructions(variables); // the cloner leaves steps of half in constant addresses
  if (Status done = lowerOperations(mapper, *context.kernel); !done)
    return done;
  HalfConstants constants(mapper);
  mapTypes(context, mapper, &constants);
  mapStructParameters(mapper, *context.kernel);
  dropIdleCasts(*context.kernel);
  return {};
}

} // namespace

const Pass soft_half{"soft_half", "hold halves in 16 bits and compute them in float", run};

} // namespace opsight::lower::spirv
