// promote_integers: integers of a width that OpenCL lacks (i2, i7, i33: LLVM makes them of remainders, masks and closed
// forms of loops) live zero-extended in the next wider one. LLVM's back end widens the type and forgets the mask, which
// silently changes trip counts.
#include "lower/spirv/passes.h"
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace opsight::lower::spirv {
namespace {

using llvm::Instruction, llvm::Value;

bool isOdd(const llvm::Type *type) {
  if (!type->isIntOrIntVectorTy())
    return false;
  unsigned width = type->getScalarSizeInBits();
  return width != 1 && width != 8 && width != 16 && width != 32 && width != 64;
}

bool usesOdd(const Instruction &instruction) {
  return isOdd(instruction.getType()) ||
         llvm::any_of(instruction.operands(), [](const llvm::Use &use) { return isOdd(use->getType()); });
}

class Promotion {
public:
  explicit Promotion(llvm::Function &function) : function(function), b(function.getContext()) {}

  /// The first instruction that has no promoted form, or null.
  const Instruction *run() {
    std::vector<Instruction *> odd;
    for (llvm::BasicBlock *block : llvm::ReversePostOrderTraversal<llvm::Function *>(&function))
      for (Instruction &instruction : *block)
        if (usesOdd(instruction))
          odd.push_back(&instruction);
    for (Instruction *instruction : odd) {
      b.SetInsertPoint(instruction);
      Value *replaced = promote(*instruction);
      if (!replaced)
        return instruction;
      if (isOdd(instruction->getType()))
        promoted[instruction] = replaced;
      else if (replaced != instruction)
        instruction->replaceAllUsesWith(replaced);
    }
    for (auto [from, to] : phis)
      for (unsigned i = 0; i < from->getNumIncomingValues(); ++i)
        to->addIncoming(wide(from->getIncomingValue(i)), from->getIncomingBlock(i));
    for (Instruction *instruction : llvm::reverse(odd))
      if (!instruction->isTerminator()) {
        if (isOdd(instruction->getType())) // only odd ones still use it, and they go too
          instruction->replaceAllUsesWith(llvm::PoisonValue::get(instruction->getType()));
        instruction->eraseFromParent();
      }
    return nullptr;
  }

private:
  llvm::Type *wideType(llvm::Type *type) {
    return type->getWithNewBitWidth(std::max(8u, unsigned(llvm::PowerOf2Ceil(type->getScalarSizeInBits()))));
  }
  /// The promoted value, or the value itself where its type is none of ours.
  Value *wide(Value *value) {
    if (!isOdd(value->getType()))
      return value;
    if (auto found = promoted.find(value); found != promoted.end())
      return found->second;
    if (auto *constant = llvm::dyn_cast<llvm::Constant>(value))
      if (auto *known = llvm::ConstantFoldCastInstruction(Instruction::ZExt, constant, wideType(value->getType())))
        return known;
    return llvm::PoisonValue::get(wideType(value->getType()));
  }
  Value *asSigned(Value *value) {
    Value *held = wide(value);
    unsigned spare = held->getType()->getScalarSizeInBits() - value->getType()->getScalarSizeInBits();
    return spare ? b.CreateAShr(b.CreateShl(held, spare), spare) : held;
  }
  Value *masked(Value *held, llvm::Type *type) {
    llvm::APInt mask = llvm::APInt::getLowBitsSet(held->getType()->getScalarSizeInBits(), type->getScalarSizeInBits());
    return b.CreateAnd(held, llvm::ConstantInt::get(held->getType(), mask));
  }

  Value *binary(llvm::BinaryOperator &op, llvm::Type *type) {
    switch (op.getOpcode()) {
    case Instruction::LShr:
    case Instruction::UDiv:
    case Instruction::URem:
      return b.CreateBinOp(op.getOpcode(), wide(op.getOperand(0)), wide(op.getOperand(1)));
    case Instruction::AShr:
      return masked(b.CreateAShr(asSigned(op.getOperand(0)), wide(op.getOperand(1))), type);
    case Instruction::SDiv:
    case Instruction::SRem:
      return masked(b.CreateBinOp(op.getOpcode(), asSigned(op.getOperand(0)), asSigned(op.getOperand(1))), type);
    default:
      return masked(b.CreateBinOp(op.getOpcode(), wide(op.getOperand(0)), wide(op.getOperand(1))), type);
    }
  }

  Value *cast(llvm::CastInst &op, llvm::Type *type) {
    llvm::Type *to = isOdd(type) ? wideType(type) : type;
    Value *from = op.getOperand(0);
    auto fit = [&](Value *value) { return isOdd(type) ? masked(value, type) : value; };
    switch (op.getOpcode()) {
    case Instruction::Trunc:
    case Instruction::ZExt:
      return fit(b.CreateZExtOrTrunc(wide(from), to));
    case Instruction::SExt:
      return fit(b.CreateSExtOrTrunc(asSigned(from), to));
    case Instruction::UIToFP:
      return b.CreateUIToFP(wide(from), to);
    case Instruction::SIToFP:
      return b.CreateSIToFP(asSigned(from), to);
    default:
      return nullptr;
    }
  }

  Value *switchOn(llvm::SwitchInst &op) {
    auto *held = wide(op.getCondition());
    auto *type = llvm::cast<llvm::IntegerType>(held->getType());
    std::vector<std::pair<llvm::ConstantInt *, llvm::BasicBlock *>> cases;
    for (auto &one : op.cases())
      cases.emplace_back(llvm::ConstantInt::get(type->getContext(), one.getCaseValue()->getValue().zext(type->getBitWidth())),
                         one.getCaseSuccessor());
    op.setCondition(held);
    for (auto [at, one] : llvm::enumerate(op.cases()))
      one.setValue(cases[at].first);
    return &op;
  }

  /// Null for what has no promoted form.
  Value *promote(Instruction &op) {
    llvm::Type *type = op.getType();
    bool tooWide = type->isIntOrIntVectorTy() && type->getScalarSizeInBits() > 64;
    for (const llvm::Use &use : op.operands())
      tooWide |= use->getType()->isIntOrIntVectorTy() && use->getType()->getScalarSizeInBits() > 64;
    if (tooWide)
      return nullptr;
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&op)) {
      phis.emplace_back(phi, b.CreatePHI(wideType(type), phi->getNumIncomingValues()));
      return phis.back().second;
    }
    if (auto *binaryOp = llvm::dyn_cast<llvm::BinaryOperator>(&op))
      return binary(*binaryOp, type);
    if (auto *castOp = llvm::dyn_cast<llvm::CastInst>(&op))
      return cast(*castOp, type);
    if (auto *compare = llvm::dyn_cast<llvm::ICmpInst>(&op)) {
      bool isSigned = compare->isSigned();
      Value *left = compare->getOperand(0), *right = compare->getOperand(1);
      return b.CreateICmp(compare->getPredicate(), isSigned ? asSigned(left) : wide(left),
                          isSigned ? asSigned(right) : wide(right));
    }
    if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&op))
      return b.CreateSelect(select->getCondition(), wide(select->getTrueValue()), wide(select->getFalseValue()));
    if (llvm::isa<llvm::FreezeInst>(&op))
      return masked(b.CreateFreeze(wide(op.getOperand(0))), type);
    if (auto *switchOp = llvm::dyn_cast<llvm::SwitchInst>(&op))
      return switchOn(*switchOp);
    return nullptr;
  }

  llvm::Function &function;
  llvm::IRBuilder<> b;
  llvm::DenseMap<Value *, Value *> promoted;
  std::vector<std::pair<llvm::PHINode *, llvm::PHINode *>> phis;
};

Status run(Context &context) {
  if (const Instruction *left = Promotion(*context.kernel).run())
    return unsupported(std::string("an integer of a width that OpenCL lacks, in '") + left->getOpcodeName() + "'",
                       "use integers of 8, 16, 32 or 64 bits", placeOf(*left));
  return {};
}

} // namespace

const Pass promote_integers{"promote_integers", "hold integers of odd widths in the next wider one", run};

} // namespace opsight::lower::spirv
