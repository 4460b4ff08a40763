// See entry.h.
#include "lower/native/entry.h"
#include "card/cpu/abi.h"
#include "lower/kernel.h"
#include "lower/native/passes.h"
#include <cstddef>

namespace opsight::lower::native {

using llvm::BasicBlock, llvm::IRBuilder, llvm::Value;
using Launch = card::native::Launch;

Value **Entry::value(llvm::StringRef name) {
  llvm::Argument *argument = findArgument(*body, name);
  return argument ? &values[argument->getArgNo()] : nullptr;
}

/// Loads `type` at `offset` bytes behind `base`.
static Value *loadField(IRBuilder<> &b, llvm::Type *type, Value *base, uint64_t offset, const llvm::Twine &name) {
  return b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset), name);
}

Value *launchField(Entry &entry, llvm::Type *type, uint64_t offset, const llvm::Twine &name) {
  return loadField(entry.b, type, entry.launch(), offset, name);
}

Value *argumentAddress(Entry &entry, size_t index) {
  return loadField(entry.b, entry.b.getPtrTy(), entry.table, index * sizeof(void *), "");
}

/// What the body's parameter receives from the address that the launch gives for it.
static Value *argumentOf(IRBuilder<> &b, llvm::Argument &parameter, Value *address) {
  llvm::Type *type = parameter.getType();
  if (parameter.hasByValAttr())
    return address; // read only, so the caller's copy serves
  if (type->isIntegerTy(1))
    return b.CreateTrunc(b.CreateLoad(b.getInt8Ty(), address), type);
  return b.CreateLoad(type, address, parameter.getName());
}

/// One body argument a manifest parameter; block, grid and shared parameters are left null.
static void readArguments(Entry &entry, const card::Manifest &manifest) {
  unsigned index = 0; // of the body's parameter; dynamic shared memory has no slot among these
  for (size_t i = 0; i < manifest.parameters.size(); ++i) {
    if (manifest.parameters[i].kind == card::Parameter::Kind::DynamicShared)
      continue;
    entry.values[index] = argumentOf(entry.b, *entry.body->getArg(index), argumentAddress(entry, i));
    ++index;
  }
}

/// Named as the manifest says, which may be how the kernel is called still.
static llvm::Function *createFunction(Context &context) {
  context.kernel->setName("opsight.block");
  IRBuilder<> b(context.module.getContext());
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty(), b.getInt64Ty(), b.getPtrTy()}, false);
  auto *entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, context.manifest.entry, context.module);
  // The processor is the body's; what the body's attributes say of memory is not true of the entry, which follows
  // pointers that it loads.
  for (const char *name : {"target-cpu", "target-features"})
    if (context.kernel->hasFnAttribute(name))
      entry->addFnAttr(context.kernel->getFnAttribute(name));
  entry->setDoesNotThrow();
  const char *names[] = {"launch", "begin", "end", "shared"};
  for (llvm::Argument &argument : entry->args())
    argument.setName(names[argument.getArgNo()]);
  return entry;
}

Entry::Entry(Context &context)
    : body(context.kernel), function(createFunction(context)), b(block("start")), values(body->arg_size(), nullptr) {
  body->setLinkage(llvm::GlobalValue::InternalLinkage);
  context.kernel = function;
  table = loadField(b, b.getPtrTy(), launch(), offsetof(Launch, arguments), "arguments");
  readArguments(*this, context.manifest);
  order = loadField(b, b.getInt64Ty(), launch(), offsetof(Launch, order), "order");
  for (int axis = 0; axis < 3; ++axis) {
    uint64_t offset = offsetof(Launch, grid) + uint64_t(axis) * sizeof(uint32_t);
    *value(gridNames[axis]) = grid[axis] = loadField(b, b.getInt32Ty(), launch(), offset, gridNames[axis]);
  }
  *value(sharedName) = shared();
}

std::array<Value *, 3> placeOfBlock(Entry &entry, Value *index) {
  IRBuilder<> &b = entry.b;
  Value *x = b.CreateZExt(entry.grid[0], b.getInt64Ty()), *y = b.CreateZExt(entry.grid[1], b.getInt64Ty());
  Value *row = b.CreateUDiv(index, x);
  std::array<Value *, 3> place{b.CreateURem(index, x), b.CreateURem(row, y), b.CreateUDiv(row, y)};
  for (Value *&coordinate : place)
    coordinate = b.CreateTrunc(coordinate, b.getInt32Ty());
  return place;
}

/// The block behind `place`, by counting.
static std::array<Value *, 3> following(Entry &entry, const std::array<llvm::PHINode *, 3> &place) {
  IRBuilder<> &b = entry.b;
  std::array<Value *, 3> next{};
  Value *carry = b.getInt32(1);
  for (int axis = 0; axis < 2; ++axis) {
    Value *sum = b.CreateAdd(place[axis], carry);
    Value *wraps = b.CreateICmpEQ(sum, entry.grid[axis]);
    next[axis] = b.CreateSelect(wraps, b.getInt32(0), sum);
    carry = b.CreateZExt(wraps, b.getInt32Ty());
  }
  next[2] = b.CreateAdd(place[2], carry);
  return next;
}

void forEachBlock(Entry &entry, llvm::function_ref<void(Value *index)> emit) {
  IRBuilder<> &b = entry.b;
  BasicBlock *first = entry.block("first"), *each = entry.block("each"), *done = entry.block("done");
  b.CreateCondBr(b.CreateICmpULT(entry.begin(), entry.end()), first, done);
  b.SetInsertPoint(first);
  std::array<Value *, 3> start = placeOfBlock(entry, entry.begin()); // once: divisions would be dearer than many a block
  b.CreateBr(each);

  b.SetInsertPoint(each);
  llvm::PHINode *index = b.CreatePHI(b.getInt64Ty(), 2, "index");
  std::array<llvm::PHINode *, 3> place{};
  for (int axis = 0; axis < 3; ++axis) {
    place[axis] = b.CreatePHI(b.getInt32Ty(), 2, blockNames[axis]);
    *entry.value(blockNames[axis]) = place[axis];
  }
  emit(index);
  Value *next = b.CreateAdd(index, b.getInt64(1));
  std::array<Value *, 3> behind = following(entry, place);
  for (int axis = 0; axis < 3; ++axis) {
    place[axis]->addIncoming(start[axis], first);
    place[axis]->addIncoming(behind[axis], b.GetInsertBlock());
  }
  index->addIncoming(entry.begin(), first);
  index->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpULT(next, entry.end()), each, done);
  b.SetInsertPoint(done);
}

void closeEntry(Entry &entry) {
  entry.b.CreateRetVoid();
  for (llvm::Argument &argument : entry.body->args())
    if (argument.hasByValAttr())
      argument.removeAttr(llvm::Attribute::ByVal);
}

} // namespace opsight::lower::native
