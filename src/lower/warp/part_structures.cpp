// part_structures: what an instruction gives as a structure, as compare-and-swap does, is taken apart where it is made, and
// where ways meet its parts do: vectors of threads hold single numbers. LLVM joins such structures where loops around a
// compare-and-swap look alike.
#include "lower/warp/divergence.h"
#include "lower/warp/passes.h"
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>

namespace opsight::lower::warp {

using llvm::Instruction, llvm::Value;

/// Beside `instruction`, one of its kind that yields the part `i`.
static Value *makePart(Instruction &instruction, unsigned i) {
  llvm::IRBuilder<> b(&instruction);
  if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    Value *yes = b.CreateExtractValue(select->getTrueValue(), i), *no = b.CreateExtractValue(select->getFalseValue(), i);
    return b.CreateSelect(select->getCondition(), yes, no);
  }
  auto &phi = llvm::cast<llvm::PHINode>(instruction);
  llvm::PHINode *part = b.CreatePHI(phi.getType()->getStructElementType(i), phi.getNumIncomingValues());
  llvm::SmallDenseMap<llvm::BasicBlock *, Value *> made; // a block that comes by two edges brings one value
  for (unsigned edge = 0; edge < phi.getNumIncomingValues(); ++edge) {
    llvm::BasicBlock *from = phi.getIncomingBlock(edge);
    Value *&value = made[from];
    if (!value) {
      b.SetInsertPoint(from->getTerminator());
      value = b.CreateExtractValue(phi.getIncomingValue(edge), i);
    }
    part->addIncoming(value, from);
  }
  return part;
}

static void replaceByParts(Instruction &instruction) {
  llvm::SmallVector<Value *> parts;
  for (unsigned i = 0; i < instruction.getType()->getStructNumElements(); ++i)
    parts.push_back(makePart(instruction, i));
  llvm::BasicBlock *block = instruction.getParent();
  llvm::IRBuilder<> b(block, llvm::isa<llvm::PHINode>(instruction) ? block->getFirstInsertionPt() : instruction.getIterator());
  Value *whole = llvm::PoisonValue::get(instruction.getType());
  for (unsigned i = 0; i < parts.size(); ++i)
    whole = b.CreateInsertValue(whole, parts[i], i);
  instruction.replaceAllUsesWith(whole);
  instruction.eraseFromParent();
}

// So that no pass behind has to carry the structure to where a part is needed.
static void takePartsAtOnce(Instruction &made) {
  for (llvm::User *user : llvm::to_vector(made.users()))
    if (auto *part = llvm::dyn_cast<llvm::ExtractValueInst>(user); part)
      part->moveAfter(&made);
}

static Status run(Context &context) {
  llvm::SmallVector<Instruction *> joins, makers;
  for (Instruction &instruction : llvm::instructions(*context.kernel))
    if (instruction.getType()->isStructTy())
      (llvm::isa<llvm::PHINode, llvm::SelectInst>(instruction) ? joins : makers).push_back(&instruction);
  for (Instruction *join : joins)
    replaceByParts(*join);
  for (Instruction *maker : makers)
    takePartsAtOnce(*maker);
  if (joins.empty())
    return {};
  llvm::FunctionPassManager passes; // parts of what was just put together
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::ADCEPass());
  WarpAnalyses analyses;
  passes.run(*context.kernel, analyses.functions);
  return {};
}

const Pass part_structures{"part_structures", "structures are taken apart where they are made, and meet as numbers", run};

} // namespace opsight::lower::warp
