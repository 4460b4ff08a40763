#include "fuzz/thread.h"
#include "fuzz/arithmetic.h"
#include <cstring>
#include <fmt/format.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace opsight::fuzz {

constexpr uint64_t mostSteps = 4'000'000;

Thread::Thread(const Program &program, const Launch &launch, card::Dim3 blockIndex, unsigned number,
               std::span<const Region> memory)
    : number(number), program_(program), launch_(launch), blockIndex_(blockIndex), memory_(memory),
      values_(program.initial), stack_(program.stackBytes + 32), block_(&program.kernel.getEntryBlock()) {
  for (size_t i = 0; i < launch.arguments.size(); ++i)
    values_[program.arguments[i]] = launch.arguments[i];
}

void Thread::run() {
  while (!waitsAt && !returned && failed.empty()) {
    step_ = &program_.blocks[program_.blockNumbers.lookup(block_)][next_++];
    if (++steps_ > mostSteps)
      return fail("it does not end");
    visit(*step_->instruction);
  }
}

void Thread::resume(uint64_t result) {
  step_ = waitsAt;
  if (!step_->instruction->getType()->isVoidTy())
    define(result);
  waitsAt = nullptr;
}

// All phis read before the first is written.
void Thread::jump(const llvm::BasicBlock *to) {
  std::vector<std::pair<unsigned, uint64_t>> fresh;
  for (const llvm::PHINode &phi : to->phis())
    fresh.push_back({program_.number(&phi), values_[program_.number(phi.getIncomingValueForBlock(block_))]});
  for (auto [number, value] : fresh)
    values_[number] = value;
  block_ = to;
  next_ = unsigned(fresh.size());
}

std::byte *Thread::memoryAt(uint64_t address, uint64_t bytes) {
  auto begin = reinterpret_cast<uint64_t>(stack_.data());
  auto holds = [&](const Region &region) { return address >= region.begin && address + bytes <= region.end; };
  if (holds({begin, begin + stack_.size()}) || std::ranges::any_of(memory_, holds))
    return reinterpret_cast<std::byte *>(address);
  std::string text;
  llvm::raw_string_ostream(text) << *step_->instruction;
  fail("an access outside of all memory:" + text);
  return nullptr;
}

void Thread::visitBinaryOperator(llvm::BinaryOperator &operation) {
  auto result = binary(operation.getOpcode(), operand(0), operand(1), widthOf(0));
  result ? define(*result) : fail(std::string("the operation ") + operation.getOpcodeName() + " on these operands");
}
void Thread::visitUnaryOperator(llvm::UnaryOperator &) { define(operand(0) ^ uint64_t(1) << (widthOf(0) - 1)); } // fneg
void Thread::visitCastInst(llvm::CastInst &cast) {
  auto result = converted(cast.getOpcode(), operand(0), widthOf(0), program_.bits(cast.getType()));
  result ? define(*result) : fail(std::string("the cast ") + cast.getOpcodeName());
}
void Thread::visitICmpInst(llvm::ICmpInst &comparison) {
  define(compare(comparison.getPredicate(), llvm::APInt(widthOf(0), operand(0)), llvm::APInt(widthOf(0), operand(1))));
}
void Thread::visitFCmpInst(llvm::FCmpInst &comparison) {
  define(compareReals(comparison.getPredicate(), realOf(operand(0), widthOf(0)), realOf(operand(1), widthOf(0))));
}
void Thread::visitSelectInst(llvm::SelectInst &) { define(operand(0) ? operand(1) : operand(2)); }
void Thread::visitExtractValueInst(llvm::ExtractValueInst &extract) {
  define(values_[step_->operands[0] + *extract.idx_begin()]);
}

void Thread::visitGetElementPtrInst(llvm::GetElementPtrInst &address) {
  uint64_t result = operand(0);
  unsigned i = 1;
  for (auto step = llvm::gep_type_begin(address); step != llvm::gep_type_end(address); ++step, ++i) {
    if (llvm::StructType *structure = step.getStructTypeOrNull())
      result += program_.layout.getStructLayout(structure)->getElementOffset(unsigned(operand(i)));
    else
      result += uint64_t(signedOf(operand(i), widthOf(i))) * step.getSequentialElementStride(program_.layout);
  }
  define(result);
}

void Thread::visitAllocaInst(llvm::AllocaInst &local) {
  auto base = reinterpret_cast<uint64_t>(stack_.data());
  define((base + stackUsed_ + 15) / 16 * 16);
  stackUsed_ = operand(0) ? values_[step_->result] - base + local.getAllocationSize(program_.layout)->getFixedValue()
                          : stackUsed_;
}
void Thread::visitLoadInst(llvm::LoadInst &load) {
  uint64_t word = 0, bytes = program_.layout.getTypeStoreSize(load.getType());
  if (load.getType()->isAggregateType())
    return fail("a load of a structure");
  if (std::byte *from = memoryAt(operand(0), bytes)) {
    std::memcpy(&word, from, bytes);
    define(word);
  }
}
void Thread::visitStoreInst(llvm::StoreInst &store) {
  uint64_t word = operand(0), bytes = program_.layout.getTypeStoreSize(store.getValueOperand()->getType());
  if (store.getValueOperand()->getType()->isVectorTy() || store.getValueOperand()->getType()->isAggregateType())
    return fail("a store of a vector or structure");
  if (std::byte *to = memoryAt(operand(1), bytes))
    std::memcpy(to, &word, bytes);
}
void Thread::visitAtomicRMWInst(llvm::AtomicRMWInst &atomic) {
  unsigned width = widthOf(1);
  uint64_t old = 0;
  std::byte *at = memoryAt(operand(0), width / 8);
  if (!at)
    return;
  std::memcpy(&old, at, width / 8);
  auto fresh = modified(atomic.getOperation(), old, operand(1), width);
  if (!fresh)
    return fail("an atomic operation");
  std::memcpy(at, &*fresh, width / 8);
  define(old);
}

void Thread::visitBranchInst(llvm::BranchInst &branch) {
  jump(branch.getSuccessor(branch.isConditional() && !operand(0) ? 1 : 0));
}
void Thread::visitSwitchInst(llvm::SwitchInst &choice) {
  for (auto &way : choice.cases())
    if (way.getCaseValue()->getZExtValue() == operand(0))
      return jump(way.getCaseSuccessor());
  jump(choice.getDefaultDest());
}

std::optional<uint64_t> Thread::special(llvm::StringRef name) const {
  auto of = [&](const card::Dim3 &all) { return name.back() == 'x' ? all.x : name.back() == 'y' ? all.y : all.z; };
  const card::Dim3 &block = launch_.block;
  if (name.starts_with("tid."))
    return of({number % block.x, number / block.x % block.y, number / block.x / block.y});
  if (name.starts_with("ntid."))
    return of(block);
  if (name.starts_with("ctaid."))
    return of(blockIndex_);
  if (name.starts_with("nctaid."))
    return of(launch_.grid);
  return name == "laneid" ? std::optional<uint64_t>(number % 32) : std::nullopt;
}

bool Thread::fill(llvm::IntrinsicInst &call) {
  if (call.getIntrinsicID() == llvm::Intrinsic::memset) {
    if (std::byte *to = memoryAt(operand(0), operand(2)))
      std::memset(to, int(operand(1)), operand(2));
    return true;
  }
  if (call.getIntrinsicID() == llvm::Intrinsic::memcpy || call.getIntrinsicID() == llvm::Intrinsic::memmove) {
    std::byte *to = memoryAt(operand(0), operand(2)), *from = memoryAt(operand(1), operand(2));
    if (to && from)
      std::memmove(to, from, operand(2));
    return true;
  }
  return false;
}

bool Thread::overflowing(llvm::IntrinsicInst &call) {
  auto *checked = llvm::dyn_cast<llvm::WithOverflowInst>(&call);
  if (!checked)
    return false;
  llvm::APInt a(widthOf(0), operand(0)), b(widthOf(0), operand(1));
  bool over = false;
  bool isAdd = checked->getBinaryOp() == llvm::Instruction::Add,
       isSub = checked->getBinaryOp() == llvm::Instruction::Sub;
  llvm::APInt result = checked->isSigned() ? (isAdd   ? a.sadd_ov(b, over)
                                              : isSub ? a.ssub_ov(b, over)
                                                      : a.smul_ov(b, over))
                                           : (isAdd   ? a.uadd_ov(b, over)
                                              : isSub ? a.usub_ov(b, over)
                                                      : a.umul_ov(b, over));
  values_[step_->result] = result.getZExtValue();
  values_[step_->result + 1] = over;
  return true;
}

void Thread::visitCallInst(llvm::CallInst &call) {
  auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call);
  if (!intrinsic)
    return fail("a call");
  llvm::StringRef name = call.getCalledFunction()->getName();
  if (name.consume_front("llvm.nvvm.read.ptx.sreg.")) {
    auto value = special(name);
    return value ? define(*value) : fail("a special register");
  }
  if (name.starts_with("llvm.nvvm.")) {
    waitsAt = step_;
    return;
  }
  if (intrinsic->isLifetimeStartOrEnd() || intrinsic->isAssumeLikeIntrinsic() || fill(*intrinsic) ||
      overflowing(*intrinsic))
    return;
  std::vector<uint64_t> operands;
  for (unsigned i = 0; i < call.arg_size(); ++i)
    operands.push_back(operand(i));
  auto result = function(intrinsic->getIntrinsicID(), operands, widthOf(0), program_.bits(call.getType()));
  result ? define(*result) : fail("the intrinsic " + name.str());
}

} // namespace opsight::fuzz
