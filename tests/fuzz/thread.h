// One thread of the interpreter: it executes a program until it has to wait or has returned.
#pragma once
#include "fuzz/interpreter.h"
#include "fuzz/program.h"
#include <llvm/IR/InstVisitor.h>

namespace opsight::fuzz {

/// Low `bits` of a word.
constexpr uint64_t low(uint64_t word, unsigned bits) { return bits >= 64 ? word : word & ((uint64_t(1) << bits) - 1); }
constexpr int64_t signedOf(uint64_t word, unsigned bits) { return int64_t(word << (64 - bits)) >> (64 - bits); }

class Thread : public llvm::InstVisitor<Thread> {
public:
  Thread(const Program &program, const Launch &launch, card::Dim3 blockIndex, unsigned number,
         std::span<const Region> memory);

  /// Goes on until `waitsAt` says where it waits, or it has returned, or it failed.
  void run();
  /// The result of the operation at which it waits.
  void resume(uint64_t result);

  const Step *waitsAt = nullptr;
  bool returned = false;
  std::string failed{};
  const unsigned number; // in the block

  /// Of a vector, its element at hand.
  uint64_t operand(unsigned i) const {
    bool isElement = element_ && step_->instruction->getOperand(i)->getType()->isVectorTy();
    return values_[step_->operands[i] + (isElement ? element_ : 0)];
  }

  // For the visitor.
  void visitBinaryOperator(llvm::BinaryOperator &operation);
  void visitUnaryOperator(llvm::UnaryOperator &operation);
  void visitCastInst(llvm::CastInst &cast);
  void visitICmpInst(llvm::ICmpInst &comparison);
  void visitFCmpInst(llvm::FCmpInst &comparison);
  void visitSelectInst(llvm::SelectInst &select);
  void visitFreezeInst(llvm::FreezeInst &) { define(operand(0)); }
  void visitExtractValueInst(llvm::ExtractValueInst &extract);
  void visitInsertValueInst(llvm::InsertValueInst &insert);
  void visitExtractElementInst(llvm::ExtractElementInst &extract);
  void visitInsertElementInst(llvm::InsertElementInst &insert);
  void visitShuffleVectorInst(llvm::ShuffleVectorInst &shuffle);
  void visitGetElementPtrInst(llvm::GetElementPtrInst &address);
  void visitAllocaInst(llvm::AllocaInst &local);
  void visitLoadInst(llvm::LoadInst &load);
  void visitStoreInst(llvm::StoreInst &store);
  void visitAtomicRMWInst(llvm::AtomicRMWInst &atomic);
  void visitFenceInst(llvm::FenceInst &) {}
  void visitCallInst(llvm::CallInst &call);
  void visitBranchInst(llvm::BranchInst &branch);
  void visitSwitchInst(llvm::SwitchInst &choice);
  void visitReturnInst(llvm::ReturnInst &) { returned = true; }
  void visitInstruction(llvm::Instruction &instruction) {
    fail(std::string("the instruction ") + instruction.getOpcodeName());
  }

private:
  void fail(const std::string &why) { failed = failed.empty() ? why : failed; }
  void define(uint64_t word) {
    values_[step_->result + element_] = low(word, program_.bits(step_->instruction->getType()));
  }
  void recut(llvm::CastInst &cast);
  void jump(const llvm::BasicBlock *to);
  std::byte *memoryAt(uint64_t address, uint64_t bytes, llvm::Align align = llvm::Align(1));
  std::optional<uint64_t> special(llvm::StringRef name) const;
  bool fill(llvm::IntrinsicInst &call);
  bool classified(llvm::IntrinsicInst &call);
  bool overflowing(llvm::IntrinsicInst &call);
  unsigned widthOf(unsigned i) const { return program_.bits(step_->instruction->getOperand(i)->getType()); }

  const Program &program_;
  const Launch &launch_;
  card::Dim3 blockIndex_;
  std::span<const Region> memory_;
  std::vector<uint64_t> values_;
  std::vector<std::byte> stack_;
  uint64_t stackUsed_ = 0, steps_ = 0;
  const llvm::BasicBlock *block_ = nullptr;
  unsigned next_ = 0;    // in block_
  unsigned element_ = 0; // of the vectors of an operation that is done on each of theirs
  const Step *step_ = nullptr;
};

} // namespace opsight::fuzz
