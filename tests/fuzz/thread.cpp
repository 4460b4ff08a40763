#include "fuzz/thread.h"
#include "fuzz/arithmetic.h"
#include <cmath>
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

/// Whether `instruction` does to each element of vectors what it does to numbers.
static bool isElementwise(const llvm::Instruction &instruction) {
  if (!instruction.getType()->isVectorTy())
    return false;
  if (auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction))
    return elementsOf(cast->getSrcTy()) == elementsOf(cast->getDestTy());
  return !llvm::isa<llvm::LoadInst, llvm::InsertElementInst, llvm::ShuffleVectorInst>(instruction);
}

void Thread::run() {
  while (!waitsAt && !returned && failed.empty()) {
    step_ = &program_.blocks[program_.blockNumbers.lookup(block_)][next_++];
    if (++steps_ > mostSteps)
      return fail("it does not end");
    llvm::Instruction &instruction = *step_->instruction;
    unsigned elements = isElementwise(instruction) ? elementsOf(instruction.getType()) : 1;
    for (element_ = 0; element_ < elements; ++element_)
      visit(instruction);
    element_ = 0;
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
  unsigned phis = 0;
  for (const llvm::PHINode &phi : to->phis()) {
    ++phis;
    unsigned from = program_.number(phi.getIncomingValueForBlock(block_));
    for (unsigned i = 0; i < elementsOf(phi.getType()); ++i)
      fresh.push_back({program_.number(&phi) + i, values_[from + i]});
  }
  for (auto [number, value] : fresh)
    values_[number] = value;
  block_ = to;
  next_ = phis;
}

std::byte *Thread::memoryAt(uint64_t address, uint64_t bytes, llvm::Align align) {
  auto begin = reinterpret_cast<uint64_t>(stack_.data());
  auto holds = [&](const Region &region) { return address >= region.begin && address + bytes <= region.end; };
  bool isInside = holds({begin, begin + stack_.size()}) || std::ranges::any_of(memory_, holds);
  if (isInside && address % align.value() == 0)
    return reinterpret_cast<std::byte *>(address);
  std::string text;
  llvm::raw_string_ostream(text) << *step_->instruction;
  fail((isInside ? "an access at an address that is no multiple of its alignment:" : "an access outside of all memory:") + text);
  return nullptr;
}

void Thread::visitBinaryOperator(llvm::BinaryOperator &operation) {
  auto result = binary(operation.getOpcode(), operand(0), operand(1), widthOf(0));
  result ? define(*result) : fail(std::string("the operation ") + operation.getOpcodeName() + " on these operands");
}
void Thread::visitUnaryOperator(llvm::UnaryOperator &) { define(operand(0) ^ uint64_t(1) << (widthOf(0) - 1)); } // fneg
/// A vector's bits as another vector, or as one number.
void Thread::recut(llvm::CastInst &cast) {
  unsigned from = program_.bits(cast.getSrcTy()), to = program_.bits(cast.getDestTy());
  unsigned count = elementsOf(cast.getDestTy());
  std::vector<uint64_t> words(count, 0);
  for (unsigned bit = 0; bit < count * to; ++bit)
    words[bit / to] |= (values_[step_->operands[0] + bit / from] >> bit % from & 1) << bit % to;
  for (unsigned i = 0; i < count; ++i)
    values_[step_->result + i] = words[i];
}

void Thread::visitCastInst(llvm::CastInst &cast) {
  if (elementsOf(cast.getSrcTy()) != elementsOf(cast.getDestTy()))
    return recut(cast);
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
  llvm::Type *type = extract.getAggregateOperand()->getType();
  unsigned first = elementsBefore(type, extract.getIndices());
  for (unsigned i = 0; i < elementsOf(type); ++i)
    values_[step_->result + i] = values_[step_->operands[0] + first + i];
}

void Thread::visitInsertValueInst(llvm::InsertValueInst &insert) {
  llvm::Type *type = insert.getType();
  unsigned all = elementsOf(type), first = elementsBefore(type, insert.getIndices()), count = elementsOf(type);
  for (unsigned i = 0; i < all; ++i) {
    bool isFresh = i >= first && i < first + count;
    values_[step_->result + i] = isFresh ? values_[step_->operands[1] + i - first] : values_[step_->operands[0] + i];
  }
}

void Thread::visitExtractElementInst(llvm::ExtractElementInst &extract) {
  if (operand(1) >= elementsOf(extract.getVectorOperandType()))
    return fail("an element that the vector has not");
  define(values_[step_->operands[0] + operand(1)]);
}
void Thread::visitInsertElementInst(llvm::InsertElementInst &insert) {
  unsigned count = elementsOf(insert.getType());
  if (operand(2) >= count)
    return fail("an element that the vector has not");
  for (unsigned i = 0; i < count; ++i)
    values_[step_->result + i] = i == operand(2) ? operand(1) : values_[step_->operands[0] + i];
}
void Thread::visitShuffleVectorInst(llvm::ShuffleVectorInst &shuffle) {
  unsigned first = elementsOf(shuffle.getOperand(0)->getType());
  llvm::ArrayRef<int> mask = shuffle.getShuffleMask();
  for (unsigned i = 0; i < mask.size(); ++i) {
    unsigned from = unsigned(std::max(mask[i], 0));
    values_[step_->result + i] = from < first ? values_[step_->operands[0] + from] : values_[step_->operands[1] + from - first];
  }
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
  uint64_t bytes = program_.layout.getTypeStoreSize(load.getType()->getScalarType());
  unsigned count = elementsOf(load.getType());
  if (load.getType()->isAggregateType())
    return fail("a load of a structure");
  if (std::byte *from = memoryAt(operand(0), bytes * count, load.getAlign()))
    for (element_ = 0; element_ < count; ++element_) {
      uint64_t word = 0;
      std::memcpy(&word, from + element_ * bytes, bytes);
      define(word);
    }
  element_ = 0;
}
void Thread::visitStoreInst(llvm::StoreInst &store) {
  llvm::Type *type = store.getValueOperand()->getType();
  uint64_t bytes = program_.layout.getTypeStoreSize(type->getScalarType());
  if (type->isAggregateType())
    return fail("a store of a structure");
  unsigned count = elementsOf(type);
  if (std::byte *to = memoryAt(operand(1), bytes * count, store.getAlign()))
    for (unsigned i = 0; i < count; ++i)
      std::memcpy(to + i * bytes, &values_[step_->operands[0] + i], bytes);
}
void Thread::visitAtomicRMWInst(llvm::AtomicRMWInst &atomic) {
  unsigned width = widthOf(1);
  uint64_t old = 0;
  std::byte *at = memoryAt(operand(0), width / 8, llvm::Align(width / 8));
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

/// The tests of llvm.is.fpclass, one bit each.
static bool isOfClass(double value, uint64_t classes, unsigned bits) {
  double least = bits == 16 ? 0x1p-14 : bits == 32 ? 0x1p-126 : 0x1p-1022; // that is normal
  bool isNegative = std::signbit(value);
  unsigned kind = std::isinf(value) ? 0 : value == 0 ? 3 : std::fabs(value) < least ? 2 : 1; // from -infinity upward
  return classes >> (isNegative ? 2 + kind : 9 - kind) & 1;
}

bool Thread::classified(llvm::IntrinsicInst &call) {
  if (call.getIntrinsicID() != llvm::Intrinsic::is_fpclass)
    return false;
  double value = realOf(operand(0), widthOf(0));
  // Quiet and signalling are not told apart: nothing here asks for one of them.
  define(std::isnan(value) ? (operand(1) & 3) != 0 : isOfClass(value, operand(1), widthOf(0)));
  return true;
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
      overflowing(*intrinsic) || classified(*intrinsic))
    return;
  std::vector<uint64_t> operands;
  for (unsigned i = 0; i < call.arg_size(); ++i)
    operands.push_back(operand(i));
  auto result = function(intrinsic->getIntrinsicID(), operands, widthOf(0), program_.bits(call.getType()));
  result ? define(*result) : fail("the intrinsic " + name.str());
}

} // namespace opsight::fuzz
