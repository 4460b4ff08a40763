// block_range: the exported entry of card/cpu/abi.h. It reads the arguments once and runs the kernel's body, now an
// internal function, for each block of the range it was handed.
#include "card/cpu/abi.h"
#include "lower/native/passes.h"
#include <cstddef>
#include <llvm/IR/IRBuilder.h>

namespace opsight::lower::native {

using llvm::IRBuilder, llvm::Value;
using Launch = card::native::Launch;

static llvm::Type *word(IRBuilder<> &b) { return b.getInt32Ty(); }

/// Loads `type` at `offset` bytes behind `base`.
static Value *loadField(IRBuilder<> &b, llvm::Type *type, Value *base, uint64_t offset, const llvm::Twine &name) {
  return b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset), name);
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
static llvm::SmallVector<Value *> readArguments(IRBuilder<> &b, const Context &context, llvm::Function &body,
                                                Value *launch) {
  llvm::SmallVector<Value *> values(body.arg_size(), nullptr);
  Value *table = loadField(b, b.getPtrTy(), launch, offsetof(Launch, arguments), "arguments");
  unsigned index = 0; // of the body's parameter; dynamic shared memory has no slot among these
  for (size_t i = 0; i < context.manifest.parameters.size(); ++i) {
    if (context.manifest.parameters[i].kind == card::Parameter::Kind::DynamicShared)
      continue;
    Value *address = loadField(b, b.getPtrTy(), table, i * sizeof(void *), "");
    values[index] = argumentOf(b, *body.getArg(index), address);
    ++index;
  }
  return values;
}

static Value *&slotOf(llvm::SmallVector<Value *> &values, llvm::Function &body, llvm::StringRef name) {
  for (llvm::Argument &argument : body.args())
    if (argument.getName() == name)
      return values[argument.getArgNo()];
  llvm_unreachable("block_indices and stack_shared ran before");
}

static llvm::Function *createEntry(Context &context) {
  IRBuilder<> b(context.module.getContext());
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty(), b.getInt64Ty(), b.getPtrTy()}, false);
  auto *entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, context.manifest.entry, context.module);
  // The processor is the body's; what the body's attributes say of memory is not true of the entry, which follows
  // pointers that it loads.
  for (const char *name : {"target-cpu", "target-features"})
    entry->addFnAttr(context.kernel->getFnAttribute(name));
  entry->setDoesNotThrow();
  const char *names[] = {"launch", "begin", "end", "shared"};
  for (llvm::Argument &argument : entry->args())
    argument.setName(names[argument.getArgNo()]);
  return entry;
}

/// blockIdx of linear index `index`: divisions, which a block's work outweighs.
static void placeBlock(IRBuilder<> &b, llvm::SmallVector<Value *> &values, llvm::Function &body, Value *index,
                       Value *const (&grid)[3]) {
  Value *rest = index;
  for (int axis = 0; axis < 3; ++axis) {
    Value *extent = b.CreateZExt(grid[axis], b.getInt64Ty());
    slotOf(values, body, blockNames[axis]) = b.CreateTrunc(axis < 2 ? b.CreateURem(rest, extent) : rest, word(b));
    rest = axis < 2 ? b.CreateUDiv(rest, extent) : rest;
    slotOf(values, body, gridNames[axis]) = grid[axis];
  }
}

static void fillEntry(Context &context, llvm::Function &entry, llvm::Function &body) {
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(entry.getContext(), name, &entry); };
  llvm::BasicBlock *start = block("start"), *each = block("each"), *done = block("done");
  IRBuilder<> b(start);
  Value *launch = entry.getArg(0), *begin = entry.getArg(1), *end = entry.getArg(2);
  llvm::SmallVector<Value *> values = readArguments(b, context, body, launch);
  slotOf(values, body, sharedName) = entry.getArg(3);
  Value *grid[3];
  for (int axis = 0; axis < 3; ++axis)
    grid[axis] = loadField(b, word(b), launch, offsetof(Launch, grid) + axis * sizeof(uint32_t), gridNames[axis]);
  b.CreateCondBr(b.CreateICmpULT(begin, end), each, done);

  b.SetInsertPoint(each);
  llvm::PHINode *index = b.CreatePHI(b.getInt64Ty(), 2, "index");
  placeBlock(b, values, body, index, grid);
  b.CreateCall(&body, values);
  Value *next = b.CreateAdd(index, b.getInt64(1));
  index->addIncoming(begin, start);
  index->addIncoming(next, each);
  b.CreateCondBr(b.CreateICmpULT(next, end), each, done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
}

static Status run(Context &context) {
  llvm::Function *body = context.kernel;
  body->setName("opsight.block");
  body->setLinkage(llvm::GlobalValue::InternalLinkage);
  // Its stack arrays must be the block's, made anew each time, and its code stays one loop nest for the optimiser.
  body->addFnAttr(llvm::Attribute::NoInline);
  context.kernel = createEntry(context);
  fillEntry(context, *context.kernel, *body);
  for (llvm::Argument &argument : body->args()) // now plain pointers to what the caller holds
    if (argument.hasByValAttr())
      argument.removeAttr(llvm::Attribute::ByVal);
  return {};
}

const Pass block_range{"block_range", "export an entry that runs a range of blocks", run};

} // namespace opsight::lower::native
