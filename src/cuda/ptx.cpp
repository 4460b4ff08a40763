// See ptx.h.
#include "cuda/ptx.h"
#include "cuda/ptx/site.h"
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Metadata.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace opsight::cuda {
namespace {
using llvm::CallInst, llvm::IRBuilder, llvm::InlineAsm, llvm::StringRef, llvm::Value;
using namespace ptx;

constexpr const char *whyNote = "opsight.ptx";

// "a.b" begins "a.b.c", not "a.bc".
bool beginsWith(StringRef name, StringRef start) {
  return name.consume_front(start) && (name.empty() || name.front() == '.');
}

bool holds(StringRef list, StringRef word) {
  llvm::SmallVector<StringRef> words;
  list.split(words, ' ');
  return llvm::is_contained(words, word);
}

/// Whether `row` is for `site`'s statement, whose types and modifiers are noted then.
bool fits(const Row &row, Site &site) {
  std::string whole = site.statement.name();
  if (!beginsWith(whole, row.name))
    return false;
  site.types.clear();
  site.modifiers.clear();
  for (size_t i = size_t(row.name.count('.')) + 1; i < site.statement.words.size(); ++i) {
    StringRef word = site.statement.words[i];
    std::optional<Type> type = typeNamed(word);
    if (type && holds(row.types, word) && site.types.size() < row.typeCount)
      site.types.push_back(*type);
    else if (holds(row.modifiers, word))
      site.modifiers.push_back(word);
    else
      return false;
  }
  return site.types.size() == row.typeCount;
}

const Row *findRow(Site &site) {
  for (llvm::ArrayRef<Row> table :
       {integerRows(), bitRows(), floatRows(), movementRows(), memoryRows(), copyRows(), warpRows(), matrixRows()})
    for (const Row &row : table)
      if (fits(row, site) && site.operandCount() >= row.fewest && site.operandCount() <= row.most)
        return &row;
  return nullptr;
}

/// One asm("…") of a kernel.
class Text {
public:
  explicit Text(CallInst &call) : call(call), b(&call), assembly(*llvm::cast<InlineAsm>(call.getCalledOperand())) {}

  /// Writes what it means before the call and gives the call's users its results; else says why not.
  std::expected<void, std::string> translate() {
    auto statements = parse(assembly.getAsmString().str());
    if (!statements)
      return std::unexpected("inline PTX that cannot be read: " + statements.error());
    if (auto bound = bindOperands(); !bound)
      return bound;
    for (const Statement &statement : *statements)
      if (auto done = translate(statement); !done)
        return done;
    handOver();
    return {};
  }

private:
  std::expected<void, std::string> bindOperands();
  std::expected<void, std::string> declare(const Statement &statement);
  std::expected<void, std::string> translate(const Statement &statement);
  std::expected<void, std::string> emit(const Statement &statement);
  std::expected<void, std::string> emitGuarded(const Statement &statement);
  void handOver();
  llvm::Type *outputType(unsigned i) const {
    return call.getType()->isStructTy() ? call.getType()->getStructElementType(i) : call.getType();
  }

  CallInst &call;
  IRBuilder<> b;
  InlineAsm &assembly;
  Registers registers;
  unsigned outputs = 0;
};

// "$0", "$1", … in the order of the constraints; an output that is an input too ("+r") starts with that input's value.
std::expected<void, std::string> Text::bindOperands() {
  unsigned number = 0, argument = 0;
  for (const InlineAsm::ConstraintInfo &constraint : assembly.ParseConstraints()) {
    if (constraint.Type == InlineAsm::isClobber)
      continue;
    std::string name = "$" + std::to_string(number++);
    if (constraint.isIndirect || constraint.Type == InlineAsm::isLabel)
      return std::unexpected("inline PTX with an operand in memory has no translation");
    if (constraint.Type == InlineAsm::isOutput) {
      registers.declare(name, {.type = outputType(outputs++)});
      continue;
    }
    Value *value = call.getArgOperand(argument++);
    bool isNumber = llvm::isa<llvm::ConstantInt>(value) && !constraint.Codes.empty() &&
                    (constraint.Codes[0] == "n" || constraint.Codes[0] == "i");
    registers.declare(name, {.type = value->getType(), .value = value, .isInput = true, .isConstant = isNumber});
    if (constraint.hasMatchingInput()) // an input that some other input must match does not occur
      continue;
    if (!constraint.Codes.empty() && llvm::all_of(constraint.Codes[0], llvm::isDigit))
      registers.find("$" + constraint.Codes[0])->value = value;
  }
  return {};
}

std::expected<void, std::string> Text::declare(const Statement &statement) {
  std::optional<Type> type = statement.words.size() == 1 ? typeNamed(statement.words[0]) : std::nullopt;
  if (!type)
    return std::unexpected("inline PTX '.reg." + statement.name() + "' has no translation");
  for (const Operand &name : statement.operands)
    registers.declare(name.name, {.type = b.getIntNTy(type->width())});
  return {};
}

std::expected<void, std::string> Text::translate(const Statement &statement) {
  switch (statement.kind) {
  case Statement::Kind::Open:
    registers.open();
    return {};
  case Statement::Kind::Close:
    registers.close();
    return {};
  case Statement::Kind::Declaration:
    return declare(statement);
  case Statement::Kind::Instruction:
    return statement.guard.empty() ? emit(statement) : emitGuarded(statement);
  }
  return {};
}

std::expected<void, std::string> Text::emit(const Statement &statement) {
  Site site(b, registers, statement);
  const Row *row = findRow(site);
  if (!row)
    return std::unexpected("inline PTX '" + statement.name() + "' has no translation");
  row->emit(site);
  if (!site.problem.empty())
    return std::unexpected("inline PTX '" + statement.name() + "' has no translation: " + site.problem);
  return {};
}

// A region that threads enter for which the guard holds; the others keep what their registers held.
std::expected<void, std::string> Text::emitGuarded(const Statement &statement) {
  Site site(b, registers, statement);
  Value *condition = site.predicate({.name = statement.guard, .negated = statement.guardNegated});
  if (!site.problem.empty())
    return std::unexpected("inline PTX '@" + statement.guard + " " + statement.name() + "': " + site.problem);
  std::vector<Registers::Scope> before = registers.scopes;
  llvm::BasicBlock *outside = call.getParent();
  llvm::Instruction *end = llvm::SplitBlockAndInsertIfThen(condition, call.getIterator(), /*Unreachable=*/false);
  b.SetInsertPoint(end);
  auto done = emit(statement);
  llvm::BasicBlock *inside = b.GetInsertBlock();
  b.SetInsertPoint(&call);
  if (!done)
    return done;
  registers.carry = nullptr;
  for (size_t scope = 0; scope < before.size(); ++scope)
    for (auto &entry : registers.scopes[scope]) {
      Register &now = entry.second;
      Value *kept = before[scope][entry.first()].value;
      if (now.value == kept)
        continue;
      llvm::PHINode *either = llvm::PHINode::Create(now.type, 2, "", call.getParent()->begin());
      either->addIncoming(kept ? kept : llvm::Constant::getNullValue(now.type), outside);
      either->addIncoming(now.value, inside);
      now.value = either;
    }
  return {};
}

void Text::handOver() {
  auto valueOf = [&](unsigned i) {
    Register *output = registers.find("$" + std::to_string(i));
    return output->value ? output->value : llvm::Constant::getNullValue(output->type);
  };
  if (call.getType()->isStructTy()) {
    for (llvm::User *user : llvm::make_early_inc_range(call.users()))
      if (auto *part = llvm::dyn_cast<llvm::ExtractValueInst>(user); part && part->getNumIndices() == 1) {
        part->replaceAllUsesWith(valueOf(part->getIndices()[0]));
        part->eraseFromParent();
      }
    if (!call.use_empty()) {
      Value *all = llvm::PoisonValue::get(call.getType());
      for (unsigned i = 0; i < outputs; ++i)
        all = b.CreateInsertValue(all, valueOf(i), i);
      call.replaceAllUsesWith(all);
    }
  } else if (!call.getType()->isVoidTy()) {
    call.replaceAllUsesWith(valueOf(0));
  }
  call.eraseFromParent();
}

// Stays until checkDialect() sees whether anybody comes there: it must not vanish for any other reason.
void keep(CallInst &call, const std::string &why) {
  auto *old = llvm::cast<InlineAsm>(call.getCalledOperand());
  call.setCalledOperand(InlineAsm::get(old->getFunctionType(), old->getAsmString(), old->getConstraintString(),
                                       /*hasSideEffects=*/true));
  call.removeFnAttr(llvm::Attribute::Memory);
  llvm::LLVMContext &context = call.getContext();
  call.setMetadata(whyNote, llvm::MDNode::get(context, llvm::MDString::get(context, why)));
}
} // namespace

void translateInlinePtx(llvm::Module &ir) {
  llvm::SmallVector<CallInst *> calls;
  for (llvm::Function &function : ir)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<CallInst>(&instruction); call && call->isInlineAsm())
        calls.push_back(call);
  for (CallInst *call : calls)
    if (auto done = Text(*call).translate(); !done)
      keep(*call, done.error());
}

std::string untranslatedPtx(const llvm::CallBase &call) {
  if (llvm::MDNode *why = call.getMetadata(whyNote))
    return llvm::cast<llvm::MDString>(why->getOperand(0))->getString().str();
  return "inline PTX '" + llvm::cast<InlineAsm>(call.getCalledOperand())->getAsmString().str() + "' has no translation";
}

} // namespace opsight::cuda
