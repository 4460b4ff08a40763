// See emitter.h.
#include "lower/warp/emitter.h"
#include "lower/warp/every_lane.h"
#include "lower/warp/passes.h"
#include <fmt/format.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/raw_ostream.h>

namespace opsight::lower::warp {

using llvm::Instruction, llvm::Value;

Emitter::Emitter(Context &context, llvm::Function &thread, llvm::Function &warp, const Shapes &shapes, unsigned lanes)
    : context(context), warp(warp), lanes(lanes), b(warp.getContext()), shapes(shapes) {
  for (llvm::Argument &argument : thread.args())
    scalars[&argument] = warp.getArg(argument.getArgNo());
}

void Emitter::define(Value *old, Value *value) { (shape(old).isVarying() ? vectors : scalars)[old] = value; }

Value *Emitter::scalar(Value *value) {
  if (auto *constant = llvm::dyn_cast<llvm::Constant>(value))
    return constant;
  Value *known = scalars.lookup(value);
  assert(known && "a scalar before its definition");
  return known;
}

Value *Emitter::vector(Value *value) {
  if (auto *constant = llvm::dyn_cast<llvm::Constant>(value))
    return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes), constant);
  Shape known = shape(value);
  if (known.isVarying()) {
    assert(vectors.lookup(value) && "a vector before its definition");
    return vectors.lookup(value);
  }
  Value *base = scalar(value);
  if (known.isUniform())
    return b.CreateVectorSplat(lanes, base);
  llvm::SmallVector<llvm::Constant *> offsets;
  llvm::Type *integer = value->getType()->isPointerTy() ? b.getInt64Ty() : value->getType();
  for (int64_t offset : known.offsets)
    offsets.push_back(llvm::ConstantInt::getSigned(integer, offset, /*ImplicitTrunc=*/true));
  Value *steps = llvm::ConstantVector::get(offsets);
  if (value->getType()->isPointerTy())
    return b.CreateGEP(b.getInt8Ty(), base, steps);
  return b.CreateAdd(b.CreateVectorSplat(lanes, base), steps);
}

Value *Emitter::atLane(Value *value, unsigned lane) {
  Shape known = shape(value);
  if (known.isUniform())
    return scalar(value);
  if (known.isPattern() && value->getType()->isPointerTy())
    return b.CreateGEP(b.getInt8Ty(), scalar(value), b.getInt64(uint64_t(known.offsets[lane])));
  if (known.isPattern())
    return b.CreateAdd(scalar(value), llvm::ConstantInt::getSigned(value->getType(), known.offsets[lane], true));
  return b.CreateExtractElement(vector(value), uint64_t(lane));
}

static unsigned partCount(llvm::Type *type) {
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    return vector->getNumElements();
  auto *structure = llvm::dyn_cast<llvm::StructType>(type);
  return structure ? structure->getNumElements() : 0;
}

Emitter::Values Emitter::parts(Value *value) {
  if (auto found = partsOf.find(value); found != partsOf.end())
    return found->second;
  Values result;
  for (unsigned i = 0; i < partCount(value->getType()); ++i) {
    Value *whole = scalar(value);
    Value *part = value->getType()->isVectorTy() ? b.CreateExtractElement(whole, i) : b.CreateExtractValue(whole, i);
    result.push_back(b.CreateVectorSplat(lanes, part));
  }
  return result;
}

Value *Emitter::bits(Value *mask) {
  return b.CreateBitCast(mask ? mask : fullMask(), b.getIntNTy(lanes));
}

Value *Emitter::both(Value *mask, Value *condition) {
  return mask ? b.CreateSelect(mask, condition, llvm::Constant::getNullValue(condition->getType())) : condition;
}

Value *Emitter::laneNumbers() {
  llvm::SmallVector<uint32_t> numbers;
  for (unsigned lane = 0; lane < lanes; ++lane)
    numbers.push_back(lane);
  return llvm::ConstantDataVector::get(warp.getContext(), numbers);
}

llvm::AllocaInst *Emitter::slot(llvm::Type *type) {
  llvm::BasicBlock &entry = warp.getEntryBlock();
  auto *slot = new llvm::AllocaInst(type, 0, "", entry.begin());
  slot->setAlignment(std::max(slot->getAlign(), llvm::Align(4)));
  return slot;
}

llvm::BasicBlock *Emitter::newBlock(const llvm::Twine &name) {
  return llvm::BasicBlock::Create(warp.getContext(), name, &warp);
}

// What the first thread that is there holds. A value proved common to the warp may have been made of others that
// `structure` has since made to look different; any thread's gives the same result.
Value *Emitter::someThreads(Value *value, Value *mask) {
  Value *first = b.getInt64(0);
  if (mask)
    first = b.CreateZExtOrTrunc(b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits(mask), b.getInt1(false)), b.getInt64Ty());
  return b.CreateExtractElement(vector(value), first);
}

// All operands are scalars: the value itself where it is uniform, the base where it is a pattern. A base may belong to a
// thread that is not there, so nothing may be promised of it.
Instruction *Emitter::cloneScalar(Instruction &instruction, Value *mask) {
  Instruction *clone = nullptr;
  if (instruction.getOpcode() == Instruction::Or && shape(&instruction).isPattern())
    clone = llvm::BinaryOperator::CreateAdd(scalar(instruction.getOperand(0)), scalar(instruction.getOperand(1)));
  else
    clone = instruction.clone();
  if (clone->getOpcode() == instruction.getOpcode())
    for (llvm::Use &operand : clone->operands())
      if (llvm::isa<Instruction>(operand) || llvm::isa<llvm::Argument>(operand))
        operand = shape(operand).isVarying() ? someThreads(operand, mask) : scalar(operand);
  if (!shape(&instruction).isUniform() || instruction.getMetadata(uniformMark))
    clone->dropPoisonGeneratingFlags();
  clone->setMetadata(uniformMark, nullptr);
  b.Insert(clone, instruction.getName());
  return clone;
}

Value *Emitter::element(llvm::GetElementPtrInst &address) {
  auto operand = [&](Value *value) { return shape(value).isUniform() ? scalar(value) : vector(value); };
  llvm::SmallVector<Value *> indices;
  for (Value *index : address.indices())
    indices.push_back(operand(index));
  return b.CreateGEP(address.getSourceElementType(), operand(address.getPointerOperand()), indices, address.getName(),
                     address.getNoWrapFlags());
}

// Lane by lane the same operation: the flags stay, for they speak of each lane.
bool Emitter::emitElementwise(Instruction &instruction) {
  Value *result = nullptr;
  auto operand = [&](unsigned i) { return vector(instruction.getOperand(i)); };
  if (auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction))
    result = element(*address);
  else if (auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction))
    result = b.CreateBinOp(binary->getOpcode(), operand(0), operand(1));
  else if (auto *unary = llvm::dyn_cast<llvm::UnaryOperator>(&instruction))
    result = b.CreateUnOp(unary->getOpcode(), operand(0));
  else if (auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction))
    result = b.CreateCast(cast->getOpcode(), operand(0), widened(cast->getDestTy()));
  else if (auto *comparison = llvm::dyn_cast<llvm::CmpInst>(&instruction))
    result = b.CreateCmp(comparison->getPredicate(), operand(0), operand(1));
  else if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    Value *condition = select->getCondition();
    result = b.CreateSelect(shape(condition).isUniform() ? scalar(condition) : vector(condition), operand(1), operand(2));
  } else if (llvm::isa<llvm::FreezeInst>(instruction))
    result = b.CreateFreeze(operand(0));
  if (!result)
    return false;
  if (auto *made = llvm::dyn_cast<Instruction>(result); made && made->getOpcode() == instruction.getOpcode()) {
    made->copyIRFlags(&instruction);
    made->setName(instruction.getName());
  }
  define(&instruction, result);
  return true;
}

static bool isRecut(const Instruction &instruction) {
  auto *cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
  return cast && (cast->getSrcTy()->isVectorTy() || cast->getDestTy()->isVectorTy());
}

// The bits of a source's vector, cut into elements of another width: two halves of a word, a word of four bytes.
void Emitter::recut(llvm::CastInst &cast) {
  llvm::Type *from = cast.getSrcTy()->getScalarType(), *to = cast.getDestTy()->getScalarType();
  unsigned width = from->getScalarSizeInBits(), newWidth = to->getScalarSizeInBits();
  llvm::Type *bits = widened(b.getIntNTy(width)), *newBits = widened(b.getIntNTy(newWidth));
  Value *operand = cast.getOperand(0);
  Values given = operand->getType()->isVectorTy() ? parts(operand) : Values{vector(operand)}, made;
  for (Value *&part : given)
    part = b.CreateBitCast(part, bits);
  for (unsigned first = 0, end = unsigned(given.size()) * width; first < end; first += newWidth) {
    Value *whole = llvm::Constant::getNullValue(newBits);
    for (unsigned bit = first; bit < first + newWidth; bit += std::min(width, newWidth)) {
      Value *piece = b.CreateZExtOrTrunc(b.CreateLShr(given[bit / width], uint64_t(bit % width)), newBits);
      whole = b.CreateOr(whole, b.CreateShl(piece, uint64_t(bit - first)));
    }
    made.push_back(b.CreateBitCast(whole, widened(to)));
  }
  cast.getDestTy()->isVectorTy() ? defineParts(&cast, made) : define(&cast, made[0]);
}

// Vectors and structures of the source are only taken apart and put together.
bool Emitter::emitParts(Instruction &instruction) {
  auto at = [](Value *index) { return unsigned(llvm::cast<llvm::ConstantInt>(index)->getZExtValue()); };
  if (auto *extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction)) {
    if (!llvm::isa<llvm::ConstantInt>(extract->getIndexOperand()))
      return false;
    define(extract, parts(extract->getVectorOperand())[at(extract->getIndexOperand())]);
  } else if (auto *insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) {
    if (!llvm::isa<llvm::ConstantInt>(insert->getOperand(2)))
      return false;
    Values values = parts(insert->getOperand(0));
    values[at(insert->getOperand(2))] = vector(insert->getOperand(1));
    defineParts(insert, values);
  } else if (auto *extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    if (extract->getNumIndices() != 1)
      return false;
    define(extract, parts(extract->getAggregateOperand())[*extract->idx_begin()]);
  } else if (auto *insert = llvm::dyn_cast<llvm::InsertValueInst>(&instruction)) {
    if (insert->getNumIndices() != 1)
      return false;
    Values values = parts(insert->getAggregateOperand());
    values[*insert->idx_begin()] = vector(insert->getInsertedValueOperand());
    defineParts(insert, values);
  } else if (isRecut(instruction)) {
    recut(llvm::cast<llvm::CastInst>(instruction));
  } else {
    return false;
  }
  return true;
}

static bool isNothing(const llvm::CallInst &call) {
  auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call);
  return intrinsic && (intrinsic->isLifetimeStartOrEnd() || intrinsic->isAssumeLikeIntrinsic());
}

Status Emitter::call(llvm::CallInst &call, Value *mask) {
  if (isNothing(call))
    return {};
  if (isLane(call)) {
    define(&call, b.getInt32(0));
    return {};
  }
  if (isFullQuestion(call)) {
    if (Value *holds = mask ? nullptr : everyLaneHolds(*this, call.getArgOperand(0))) {
      define(&call, holds);
      return {};
    }
    Value *here = bits(both(mask, vector(call.getArgOperand(0))));
    define(&call, b.CreateICmpEQ(here, llvm::Constant::getAllOnesValue(here->getType())));
    return {};
  }
  if (auto what = watch::saidBy(call)) {
    context.target.watched == Watched::Checked ? check(call, *what, mask) : publish(call, *what, mask);
    return {};
  }
  if (spirv::isBarrier(call))
    return barrier(call, mask);
  if (call.getCalledFunction() && call.getCalledFunction()->getName() == retireName) {
    retire(call, mask);
    return {};
  }
  if (auto operation = spirv::asWarpOperation(call))
    return warpOperation(*operation, mask);
  if (auto product = cuda::asMatrixProduct(call)) {
    matrixProduct(call, *product);
    return {};
  }
  if (auto matrices = cuda::asMatrixLoad(call)) {
    matrixLoad(call, *matrices, mask);
    return {};
  }
  bool allUniform = llvm::all_of(call.args(), [&](Value *argument) { return shape(argument).isUniform(); });
  if (allUniform && shape(&call).isUniform()) { // also what acts: a trap, a clock
    define(&call, cloneScalar(call, mask));
    return {};
  }
  llvm::Intrinsic::ID id = call.getIntrinsicID();
  if (id == llvm::Intrinsic::not_intrinsic || !llvm::isTriviallyVectorizable(id) || call.getType()->isAggregateType())
    return serial(call, mask);
  llvm::SmallVector<Value *> arguments;
  llvm::SmallVector<llvm::Type *> types;
  if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1, nullptr))
    types.push_back(widened(call.getType()));
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    bool isScalar = llvm::isVectorIntrinsicWithScalarOpAtArg(id, i, nullptr);
    arguments.push_back(isScalar ? scalar(call.getArgOperand(i)) : vector(call.getArgOperand(i)));
    if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, int(i), nullptr))
      types.push_back(arguments.back()->getType());
  }
  llvm::CallInst *made = b.CreateIntrinsic(id, types, arguments);
  if (llvm::isa<llvm::FPMathOperator>(made))
    made->copyFastMathFlags(&call);
  define(&call, made);
  return {};
}

Status Emitter::emit(Instruction &instruction, Value *mask) {
  b.SetCurrentDebugLocation(instruction.getDebugLoc());
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return this->load(*load, mask);
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return this->store(*store, mask);
  if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
    return this->call(*call, mask);
  if (llvm::isa<llvm::FenceInst>(instruction)) {
    cloneScalar(instruction, mask);
    return {};
  }
  if (auto *local = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
    auto *moved = llvm::cast<Instruction>(local->clone());
    moved->insertBefore(warp.getEntryBlock().begin());
    define(local, moved);
    return {};
  }
  if (auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction); atomic && sharedAtomic(*atomic, mask))
    return {};
  if (llvm::isa<llvm::AtomicRMWInst>(instruction) || llvm::isa<llvm::AtomicCmpXchgInst>(instruction))
    return serial(instruction, mask);
  Shape known = shape(&instruction);
  if (!known.isVarying()) {
    define(&instruction, cloneScalar(instruction, mask));
    return {};
  }
  bool whole = !instruction.getType()->isVectorTy() && !instruction.getType()->isAggregateType();
  if (emitParts(instruction) || (whole && emitElementwise(instruction)))
    return {};
  return unsupported(fmt::format("the operation {} on {}", instruction.getOpcodeName(),
                                 instruction.getType()->isVectorTy() ? "a vector" : "a structure"),
                     "write it for single numbers", placeOf(instruction));
}

} // namespace opsight::lower::warp
