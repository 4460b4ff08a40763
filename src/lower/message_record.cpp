// See message_record.h.
#include "lower/message_record.h"
#include "card/message.h"
#include <cstddef>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace opsight::lower {

using card::MessageHeader, llvm::IRBuilder, llvm::Value;

constexpr uint32_t headerWords = sizeof(MessageHeader) / 4;

uint32_t formatId(card::Manifest &manifest, const std::string &format) {
  for (size_t i = 0; i < manifest.formats.size(); ++i)
    if (manifest.formats[i] == format)
      return uint32_t(i);
  manifest.formats.push_back(format);
  return uint32_t(manifest.formats.size() - 1);
}

static Value *asWords(IRBuilder<> &b, Value *value) {
  llvm::Type *type = value->getType();
  if (type->isPointerTy())
    return b.CreatePtrToInt(value, b.getInt64Ty());
  if (type->isFloatingPointTy())
    return b.CreateBitCast(b.CreateFPCast(value, b.getDoubleTy()), b.getInt64Ty());
  return b.CreateSExtOrTrunc(value, b.getInt64Ty());
}

static Value *wordAt(IRBuilder<> &b, Value *buffer, Value *index) {
  return b.CreateInBoundsGEP(b.getInt32Ty(), buffer, index);
}

void recordMessage(llvm::Instruction *at, Value *buffer, uint32_t id, llvm::ArrayRef<Value *> arguments) {
  IRBuilder<> b(at);
  uint32_t words = 2 + 2 * uint32_t(arguments.size());
  llvm::SmallVector<Value *> values;
  for (Value *argument : arguments)
    values.push_back(asWords(b, argument));
  Value *used = b.CreateAtomicRMW(llvm::AtomicRMWInst::Add, buffer, b.getInt32(words), llvm::Align(4),
                                  llvm::AtomicOrdering::Monotonic);
  Value *capacity = b.CreateLoad(b.getInt32Ty(), wordAt(b, buffer, b.getInt64(offsetof(MessageHeader, capacity) / 4)));
  Value *end = b.CreateAdd(b.CreateZExt(used, b.getInt64Ty()), b.getInt64(words));
  Value *fits = b.CreateICmpULE(end, b.CreateZExt(capacity, b.getInt64Ty()));
  b.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(fits, at->getIterator(), /*Unreachable=*/false));
  Value *first = b.CreateAdd(b.CreateZExt(used, b.getInt64Ty()), b.getInt64(headerWords));
  auto put = [&](uint32_t offset, Value *word) {
    b.CreateStore(word, wordAt(b, buffer, b.CreateAdd(first, b.getInt64(offset))));
  };
  put(0, b.getInt32(id));
  put(1, b.getInt32(words - 2));
  for (uint32_t i = 0; i < values.size(); ++i) {
    put(2 + 2 * i, b.CreateTrunc(values[i], b.getInt32Ty()));
    put(3 + 2 * i, b.CreateTrunc(b.CreateLShr(values[i], 32), b.getInt32Ty()));
  }
}

void markMessage(IRBuilder<> &b, Value *buffer, uint64_t offset, uint32_t mark) {
  b.CreateStore(b.getInt32(mark), wordAt(b, buffer, b.getInt64(offset / 4)));
}

} // namespace opsight::lower
