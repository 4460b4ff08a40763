// See emit_rows.h.
#include "lower/warp/emit_rows.h"
#include <llvm/Analysis/VectorUtils.h>

namespace opsight::lower::warp {

using llvm::Value;

constexpr unsigned rowLength = 4; // 32-bit elements in a 128-bit part of a register, across which moving costs more

constexpr unsigned deepestAddress = 8; // steps of arithmetic that are done for each thread apart

Value *atLaneAlone(Emitter &emitter, Value *value, unsigned lane, unsigned depth) {
  auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || !emitter.shape(value).isVarying() || depth == deepestAddress || value->getType()->isVectorTy())
    return emitter.atLane(value, lane);
  constexpr unsigned arithmetic[] = {llvm::Instruction::Add,          llvm::Instruction::Sub,
                                     llvm::Instruction::Mul,          llvm::Instruction::Shl,
                                     llvm::Instruction::Or,           llvm::Instruction::SExt,
                                     llvm::Instruction::ZExt,         llvm::Instruction::GetElementPtr,
                                     llvm::Instruction::AddrSpaceCast};
  if (!llvm::is_contained(arithmetic, instruction->getOpcode()))
    return emitter.atLane(value, lane);
  llvm::Instruction *alone = instruction->clone();
  for (llvm::Use &operand : alone->operands())
    operand = atLaneAlone(emitter, operand, lane, depth + 1);
  alone->dropPoisonGeneratingFlags();
  return emitter.b.Insert(alone);
}

// Four vectors, of which each 128-bit part is a square of four by four, turned over there.
static Emitter::Values transposedParts(Emitter &emitter, llvm::ArrayRef<Value *> square) {
  llvm::IRBuilder<> &b = emitter.b;
  Emitter::Values result;
  // Of each part, elements (0 0' 1 1') and (2 2' 3 3') of two vectors, then halves of two such.
  auto interleave = [&](Value *left, Value *right, std::array<unsigned, rowLength> pick) {
    llvm::SmallVector<int> from;
    for (unsigned lane = 0; lane < emitter.lanes; ++lane) {
      unsigned part = lane / rowLength * rowLength, element = pick[lane % rowLength];
      from.push_back(int(element < rowLength ? part + element : emitter.lanes + part + element - rowLength));
    }
    return b.CreateShuffleVector(left, right, from);
  };
  for (bool high : {false, true}) {
    std::array<unsigned, rowLength> pairs = high ? std::array{2u, 6u, 3u, 7u} : std::array{0u, 4u, 1u, 5u};
    Value *first = interleave(square[0], square[1], pairs), *second = interleave(square[2], square[3], pairs);
    result.push_back(interleave(first, second, {0, 1, 4, 5}));
    result.push_back(interleave(first, second, {2, 3, 6, 7}));
  }
  return result;
}

// Four elements of every thread's row: a load a thread, so placed that transposing moves nothing across 128-bit parts.
Emitter::Values loadRows(Emitter &emitter, llvm::Type *type, Value *pointer, llvm::Align align) {
  llvm::IRBuilder<> &b = emitter.b;
  Emitter::Values rows, held;
  for (unsigned lane = 0; lane < emitter.lanes; ++lane)
    rows.push_back(
        b.CreateAlignedLoad(llvm::FixedVectorType::get(type, rowLength), atLaneAlone(emitter, pointer, lane), align));
  for (unsigned i = 0; i < rowLength; ++i) {
    Emitter::Values pieces;
    for (unsigned lane = i; lane < emitter.lanes; lane += rowLength)
      pieces.push_back(rows[lane]);
    held.push_back(llvm::concatenateVectors(b, pieces));
  }
  return transposedParts(emitter, held);
}

// The same the other way: a transposition, then a store a thread.
void storeRows(Emitter &emitter, llvm::ArrayRef<Value *> elements, Value *pointer, llvm::Align align) {
  Emitter::Values held = transposedParts(emitter, elements);
  for (unsigned lane = 0; lane < emitter.lanes; ++lane) {
    llvm::SmallVector<int> part;
    for (unsigned i = 0; i < rowLength; ++i)
      part.push_back(int(lane / rowLength * rowLength + i));
    emitter.b.CreateAlignedStore(emitter.b.CreateShuffleVector(held[lane % rowLength], part),
                                 atLaneAlone(emitter, pointer, lane), align);
  }
}

bool areRows(const Emitter &emitter, const Shape &address, unsigned count, uint64_t bytes, bool isVolatile) {
  return count == rowLength && bytes * count == 16 && emitter.lanes % rowLength == 0 && !isVolatile &&
         (address.isVarying() || (address.isPattern() && runsOf(address.offsets, bytes).size() > mostRuns));
}

} // namespace opsight::lower::warp
