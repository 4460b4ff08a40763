#include "cuda/accesses.h"
#include "cuda/dialect.h"
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/Alignment.h>
#include <set>
#include <tuple>

namespace opsight::cuda {
namespace {

std::string spaceOf(const llvm::Value *pointer) {
  switch (pointer->getType()->getPointerAddressSpace()) {
  case 1:
    return "global";
  case 3:
    return "shared";
  case 4:
    return "constant";
  }
  const llvm::Value *object = llvm::getUnderlyingObject(pointer, /*MaxLookup=*/0);
  if (llvm::isa<llvm::AllocaInst>(object))
    return "local";
  if (llvm::isa<llvm::GlobalVariable>(object))
    return object->getType()->getPointerAddressSpace() ? spaceOf(object) : "constant";
  const auto *argument = llvm::dyn_cast<llvm::Argument>(object);
  return argument && argument->hasByValAttr() ? "constant" : "generic"; // parameters lie in constant memory
}

class Collector {
public:
  explicit Collector(Facts &facts, const llvm::DataLayout &layout) : facts(facts), layout(layout) {}

  void add(const llvm::Instruction &instruction) {
    if (const auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      add(Fact::Kind::Load, instruction, load->getPointerOperand(), load->getType());
    if (const auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      add(Fact::Kind::Store, instruction, store->getPointerOperand(), store->getValueOperand()->getType());
  }

private:
  void add(Fact::Kind kind, const llvm::Instruction &instruction, const llvm::Value *pointer, llvm::Type *type) {
    Fact fact;
    fact.kind = kind;
    fact.where = userPlace(instruction);
    fact.space = spaceOf(pointer);
    fact.bytes = layout.getTypeStoreSize(type);
    fact.what = fact.space + (kind == Fact::Kind::Load ? " load" : " store");
    if (seen.insert({fact.where.file, fact.where.line, fact.where.column, kind, fact.space, fact.bytes}).second)
      facts.all.push_back(std::move(fact));
  }

  Facts &facts;
  const llvm::DataLayout &layout;
  std::set<std::tuple<std::string, unsigned, unsigned, Fact::Kind, std::string, uint64_t>> seen;
};
} // namespace

void addAccessFacts(const llvm::Module &ir, Facts &facts) {
  const llvm::DataLayout &layout = ir.getDataLayout();
  for (const llvm::GlobalVariable &variable : ir.globals()) {
    if (variable.getAddressSpace() != 3)
      continue;
    if (variable.isDeclaration()) {
      facts.usesDynamicShared = true;
      continue;
    }
    facts.staticSharedBytes = llvm::alignTo(facts.staticSharedBytes, variable.getAlign().valueOrOne());
    facts.staticSharedBytes += layout.getTypeAllocSize(variable.getValueType());
  }
  Collector collector(facts, layout);
  for (const llvm::Function &function : ir)
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      collector.add(instruction);
}

} // namespace opsight::cuda
