#include "port/ir_view.h"
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/raw_ostream.h>

namespace opsight::port {

using namespace llvm;

IrView::IrView(const cuda::Module &module)
    : module(module), function(*module.ir->getFunction(module.kernel.symbol)), dominators(function), loops(dominators),
      assumptions(function), libraryTable(module.ir->getTargetTriple()), library(libraryTable),
      evolution(function, library, assumptions, dominators, loops) {}

/// "local_maximum<4, 64, 64>" is local_maximum.
static StringRef plainName(StringRef name) { return name.take_until([](char c) { return c == '<'; }); }

/// Whether the chain of inlined functions, from the kernel inwards, holds `functions` in their order.
static bool inlinedFrom(const Instruction &instruction, std::initializer_list<std::string_view> functions) {
  SmallVector<StringRef, 8> chain;
  for (const DILocation *at = instruction.getDebugLoc(); at; at = at->getInlinedAt())
    if (const DISubprogram *subprogram = at->getScope()->getSubprogram())
      chain.push_back(plainName(subprogram->getName()));
  auto wanted = functions.begin();
  for (StringRef name : reverse(chain))
    if (wanted != functions.end() && name == StringRef(*wanted))
      ++wanted;
  return wanted == functions.end();
}

static bool onFloats(const Instruction &instruction) {
  auto isFloat = [](const Value *value) { return value->getType()->getScalarType()->isFloatTy(); };
  return isFloat(&instruction) || any_of(instruction.operands(), isFloat);
}

IrView::Instructions IrView::from(std::initializer_list<std::string_view> functions) const {
  Instructions found;
  for (const Instruction &instruction : instructions(function))
    if (!isa<PHINode>(instruction) && onFloats(instruction) && inlinedFrom(instruction, functions))
      found.push_back(&instruction);
  return found;
}

const Loop *IrView::commonLoop(const Instructions &a, const Instructions &b) const {
  if (a.empty() || b.empty())
    return nullptr;
  auto holdsAll = [](const Loop *loop, const Instructions &all) {
    return std::ranges::all_of(all, [&](const Instruction *each) { return loop->contains(each); });
  };
  const Loop *loop = loops.getLoopFor(a.front()->getParent());
  while (loop && !(holdsAll(loop, a) && holdsAll(loop, b)))
    loop = loop->getParentLoop();
  return loop;
}

bool IrView::ordered(const Instructions &first, const Instructions &second) const {
  const Loop *loop = commonLoop(first, second);
  if (!loop)
    return false;
  // Blocks that a round can still reach from `second`: the way back to the header begins another round.
  SmallPtrSet<const BasicBlock *, 32> after;
  SmallVector<const BasicBlock *, 32> open;
  auto leave = [&](const BasicBlock *block) {
    for (const BasicBlock *next : successors(block))
      if (next != loop->getHeader() && loop->contains(next) && after.insert(next).second)
        open.push_back(next);
  };
  for (const Instruction *instruction : second)
    leave(instruction->getParent());
  while (!open.empty())
    leave(open.pop_back_val());
  for (const Instruction *early : first) {
    if (after.contains(early->getParent()))
      return false;
    for (const Instruction *late : second)
      if (late->getParent() == early->getParent() && late->comesBefore(early))
        return false;
  }
  return true;
}

static std::optional<int64_t> stepOf(const PHINode &phi, const Loop &loop) {
  const BasicBlock *latch = loop.getLoopLatch();
  if (!latch || !phi.getType()->isIntegerTy())
    return std::nullopt;
  auto *add = dyn_cast<BinaryOperator>(phi.getIncomingValueForBlock(latch));
  if (!add || add->getOpcode() != Instruction::Add || add->getOperand(0) != &phi)
    return std::nullopt;
  auto *step = dyn_cast<ConstantInt>(add->getOperand(1));
  return step ? std::optional(step->getSExtValue()) : std::nullopt;
}

std::vector<IrView::Reduction> IrView::reductions(const Instructions &instructions) const {
  std::vector<Reduction> found;
  SmallPtrSet<const Loop *, 8> seen;
  for (const Instruction *instruction : instructions) {
    const Loop *loop = loops.getLoopFor(instruction->getParent());
    if (!loop || !loop->isInnermost() || !seen.insert(loop).second)
      continue;
    Reduction reduction;
    for (const PHINode &phi : loop->getHeader()->phis()) {
      reduction.partials += phi.getType()->getScalarType()->isFloatTy();
      if (std::optional<int64_t> step = stepOf(phi, *loop))
        reduction.step = *step;
    }
    reduction.where = placeOf(*instruction);
    if (reduction.partials && reduction.step)
      found.push_back(std::move(reduction));
  }
  return found;
}

/// Of the one array that `pointer` leads into, the thread's own or shared; null for all else.
static Type *memoryOf(const Value *pointer) {
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(pointer, objects, nullptr, 32);
  if (objects.size() != 1)
    return nullptr;
  if (auto *own = dyn_cast<AllocaInst>(objects.front()))
    return own->getAllocatedType();
  auto *variable = dyn_cast<GlobalVariable>(objects.front());
  return variable ? variable->getValueType() : nullptr;
}

/// [rows x [n x <lanes x float>]] or [rows x [columns x float]], also as the one member of a struct.
static std::optional<IrView::Tile> asTile(Type *type) {
  while (auto *record = dyn_cast<StructType>(type)) {
    if (record->getNumElements() != 1)
      return std::nullopt;
    type = record->getElementType(0);
  }
  auto *rows = dyn_cast<ArrayType>(type);
  auto *columns = rows ? dyn_cast<ArrayType>(rows->getElementType()) : nullptr;
  if (!columns || !columns->getElementType()->getScalarType()->isFloatTy())
    return std::nullopt;
  auto *lanes = dyn_cast<FixedVectorType>(columns->getElementType());
  IrView::Tile tile{rows->getNumElements(), columns->getNumElements() * (lanes ? lanes->getNumElements() : 1), {}};
  raw_string_ostream(tile.type) << *type;
  return tile;
}

std::optional<IrView::Tile> IrView::tileReadBy(const Instructions &instructions) const {
  for (const Instruction *instruction : instructions)
    if (auto *load = dyn_cast<LoadInst>(instruction))
      if (Type *memory = memoryOf(load->getPointerOperand()))
        if (std::optional<Tile> tile = asTile(memory))
          return tile;
  return std::nullopt;
}

IrView::Reading IrView::readingOf(std::string_view parameter, int64_t rowBytes) {
  size_t index = 0;
  while (index < module.kernel.parameters.size() && module.kernel.parameters[index].name != parameter)
    ++index;
  Reading reading;
  if (index >= function.arg_size())
    return reading;
  const Argument *argument = function.getArg(static_cast<unsigned>(index));
  std::map<const BasicBlock *, std::vector<LoadInst *>> byBlock;
  for (Instruction &instruction : instructions(function)) {
    auto *load = dyn_cast<LoadInst>(&instruction);
    if (!load || !load->getType()->getScalarType()->isFloatTy() ||
        getUnderlyingObject(load->getPointerOperand(), 64) != argument)
      continue;
    ++reading.loads;
    byBlock[load->getParent()].push_back(load);
    for (const User *user : load->users())
      if (auto *store = dyn_cast<StoreInst>(user))
        reading.copied |= store->getValueOperand() == load;
  }
  for (const auto &[block, loads] : byBlock)
    for (size_t i = 0; i < loads.size(); ++i)
      for (size_t j = i + 1; j < loads.size(); ++j) {
        std::optional<APInt> apart = evolution.computeConstantDifference(
            evolution.getSCEV(loads[j]->getPointerOperand()), evolution.getSCEV(loads[i]->getPointerOperand()));
        if (!apart)
          continue;
        int64_t bytes = std::abs(apart->getSExtValue());
        reading.neighbours |= bytes == 4;
        reading.rows |= bytes == rowBytes;
      }
  return reading;
}

SourcePlace IrView::placeOf(const Instruction &instruction) {
  const DILocation *at = instruction.getDebugLoc();
  if (!at)
    return {};
  return {at->getFilename().str(), at->getLine(), at->getColumn()};
}

} // namespace opsight::port
