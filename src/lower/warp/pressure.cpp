// mostLiveBytes of pressure.h: the usual backward flow, then each block walked from its end.
#include "lower/warp/pressure.h"
#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>

namespace opsight::lower::warp {

using llvm::BasicBlock, llvm::BitVector, llvm::Instruction, llvm::Value;

namespace {
class Liveness {
public:
  Liveness(llvm::Function &kernel, const Shapes &shapes, bool withAddresses);
  unsigned mostBytes();

private:
  BitVector atEnd(BasicBlock &block);
  /// What is alive before `block`'s own instructions, phis included; the most bytes seen on the way go to `most_`.
  BitVector atStart(BasicBlock &block);

  llvm::DenseMap<const Value *, unsigned> numbers_;
  llvm::SmallVector<unsigned> bytes_; // by number
  llvm::SmallVector<BasicBlock *> order_;
  llvm::DenseMap<BasicBlock *, BitVector> starts_;
  unsigned most_ = 0;
};
} // namespace

static unsigned vectorBytes(const llvm::Type *type, const llvm::DataLayout &layout) {
  if (!type->isSized() || type->isIntegerTy(1))
    return 0;
  uint64_t bytes = type->isPointerTy() ? 8 : uint64_t(layout.getTypeStoreSize(const_cast<llvm::Type *>(type)));
  return unsigned(bytes);
}

static bool isOfAddress(const Instruction &instruction, unsigned depth = 0) {
  constexpr unsigned deepest = 8;
  if (instruction.getType()->isPointerTy())
    return true;
  bool isArithmetic = llvm::isa<llvm::BinaryOperator>(instruction) || llvm::isa<llvm::CastInst>(instruction);
  if (!isArithmetic || depth == deepest || instruction.use_empty())
    return false;
  return llvm::all_of(instruction.users(),
                      [&](const llvm::User *user) { return isOfAddress(*llvm::cast<Instruction>(user), depth + 1); });
}

Liveness::Liveness(llvm::Function &kernel, const Shapes &shapes, bool withAddresses) {
  for (BasicBlock *block : llvm::post_order(&kernel))
    order_.push_back(block);
  for (BasicBlock *block : order_)
    for (Instruction &instruction : *block)
      if (unsigned bytes = vectorBytes(instruction.getType(), kernel.getDataLayout());
          bytes && shapes.of(&instruction).isVarying() && (withAddresses || !isOfAddress(instruction))) {
        numbers_[&instruction] = unsigned(bytes_.size());
        bytes_.push_back(bytes);
      }
  for (BasicBlock *block : order_)
    starts_[block] = BitVector(unsigned(bytes_.size()));
}

BitVector Liveness::atEnd(BasicBlock &block) {
  BitVector live(unsigned(bytes_.size()));
  for (BasicBlock *next : llvm::successors(&block)) {
    BitVector there = starts_[next];
    for (llvm::PHINode &phi : next->phis())
      if (auto own = numbers_.find(&phi); own != numbers_.end())
        there.reset(own->second);
    for (llvm::PHINode &phi : next->phis())
      if (auto known = numbers_.find(phi.getIncomingValueForBlock(&block)); known != numbers_.end())
        there.set(known->second);
    live |= there;
  }
  return live;
}

BitVector Liveness::atStart(BasicBlock &block) {
  BitVector live = atEnd(block);
  unsigned total = 0;
  for (unsigned number : live.set_bits())
    total += bytes_[number];
  most_ = std::max(most_, total);
  for (Instruction &instruction : llvm::reverse(block)) {
    if (llvm::isa<llvm::PHINode>(instruction))
      break; // they are all there before the first instruction
    if (auto own = numbers_.find(&instruction); own != numbers_.end() && live.test(own->second)) {
      live.reset(own->second);
      total -= bytes_[own->second];
    }
    for (Value *operand : instruction.operands())
      if (auto known = numbers_.find(operand); known != numbers_.end() && !live.test(known->second)) {
        live.set(known->second);
        total += bytes_[known->second];
      }
    most_ = std::max(most_, total);
  }
  return live;
}

unsigned Liveness::mostBytes() {
  for (bool changed = true; changed;) {
    changed = false;
    for (BasicBlock *block : order_) {
      BitVector start = atStart(*block);
      changed |= start != starts_[block];
      starts_[block] = std::move(start);
    }
  }
  return most_;
}

unsigned mostLiveBytes(llvm::Function &kernel, const Shapes &shapes, bool withAddresses) {
  return Liveness(kernel, shapes, withAddresses).mostBytes();
}

} // namespace opsight::lower::warp
