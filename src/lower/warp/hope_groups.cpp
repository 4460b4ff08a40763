// groupHopeOf of hope.h.
#include "lower/warp/emit_rows.h"
#include "lower/warp/hope.h"
#include <llvm/IR/Operator.h>

namespace opsight::lower::warp {

using llvm::Instruction, llvm::Value;

constexpr unsigned deepest = 8; // steps of arithmetic

using Offsets = llvm::SmallVector<int64_t, 32>; // of each lane behind the first of its group, modulo the value's width

static bool isZero(llvm::ArrayRef<int64_t> offsets) {
  return llvm::all_of(offsets, [](int64_t offset) { return offset == 0; });
}

static std::optional<Offsets> withinGroups(const Emitter &emitter, Value *value, unsigned group, unsigned depth = 0);

/// What two operands' offsets make; nothing where they do not say it.
static std::optional<Offsets> combined(const Instruction &instruction, const Offsets &a, const Offsets &b) {
  auto *factor = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
  auto *disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
  bool isScaled = factor && factor->getValue().ult(1u << 16);
  Offsets result;
  for (size_t lane = 0; lane < a.size(); ++lane)
    if (instruction.getOpcode() == Instruction::Add || (disjoint && disjoint->isDisjoint()))
      result.push_back(a[lane] + b[lane]);
    else if (instruction.getOpcode() == Instruction::Sub)
      result.push_back(a[lane] - b[lane]);
    else if (instruction.getOpcode() == Instruction::Mul && isScaled)
      result.push_back(a[lane] * int64_t(factor->getZExtValue()));
    else if (instruction.getOpcode() == Instruction::Shl && isScaled && factor->getZExtValue() < 16)
      result.push_back(a[lane] << factor->getZExtValue());
    else
      return std::nullopt;
  return result;
}

static std::optional<Offsets> withinGroups(const Emitter &emitter, Value *value, unsigned group, unsigned depth) {
  Shape shape = emitter.shape(value);
  Offsets result(emitter.lanes, 0);
  if (shape.isUniform())
    return result;
  if (shape.isPattern()) {
    for (unsigned lane = 0; lane < emitter.lanes; ++lane)
      result[lane] = shape.offsets[lane] - shape.offsets[lane / group * group];
    return result;
  }
  auto *instruction = llvm::dyn_cast<Instruction>(value);
  bool isArithmetic =
      llvm::isa_and_nonnull<llvm::BinaryOperator>(instruction) || llvm::isa_and_nonnull<llvm::CastInst>(instruction);
  if (!isArithmetic || depth == deepest || !value->getType()->isIntegerTy())
    return std::nullopt;
  llvm::SmallVector<Offsets, 2> operands;
  for (Value *operand : instruction->operands()) {
    auto own = withinGroups(emitter, operand, group, depth + 1);
    if (!own)
      return std::nullopt;
    operands.push_back(std::move(*own));
  }
  if (llvm::all_of(operands, [](const Offsets &offsets) { return isZero(offsets); }))
    return result;
  return operands.size() == 2 ? combined(*instruction, operands[0], operands[1]) : std::nullopt;
}

static bool isConsecutive(const Offsets &offsets, unsigned group, uint64_t stride, uint64_t bytes) {
  for (size_t lane = 0; lane < offsets.size(); ++lane)
    if (offsets[lane] * int64_t(stride) != int64_t(lane % group * bytes))
      return false;
  return true;
}

static std::optional<GroupHope> ofGroups(Emitter &emitter, const ExtendedIndex &address, unsigned group,
                                         uint64_t bytes) {
  Value *narrow = address.index->getOperand(0);
  auto offsets = withinGroups(emitter, narrow, group);
  if (!offsets || !isConsecutive(*offsets, group, address.stride, bytes))
    return std::nullopt;
  GroupHope hope{{}, nullptr, group};
  for (unsigned lane = 0; lane < emitter.lanes; lane += group) {
    auto [first, holds] = askIfSideBySide(emitter, address, atLaneAlone(emitter, narrow, lane), offsets->back());
    hope.firsts.push_back(first);
    hope.holds = hope.holds ? emitter.b.CreateAnd(hope.holds, holds) : holds;
  }
  return hope;
}

std::optional<GroupHope> groupHopeOf(Emitter &emitter, Value *pointer, uint64_t bytes) {
  if (!emitter.shape(pointer).isVarying())
    return std::nullopt;
  auto address = extendedIndexOf(emitter, pointer);
  if (!address)
    return std::nullopt;
  for (unsigned group = emitter.lanes / 2; group >= emitter.lanes / mostRuns && group > 1; group /= 2)
    if (auto hope = ofGroups(emitter, *address, group, bytes))
      return hope;
  return std::nullopt;
}

} // namespace opsight::lower::warp
