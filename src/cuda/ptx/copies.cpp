// cp.async: asynchronous copies from global to shared memory. They are done at once: a thread may not read what it
// copies before it has waited, so nothing sees the difference, and groups and waits say nothing more.
#include "cuda/ptx/shared_numbers.h"
#include "cuda/ptx/site.h"
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace opsight::cuda::ptx {
namespace {
using llvm::IRBuilder, llvm::Value;

struct Copy {
  Value *to, *from;
  unsigned bytes; // 4, 8 or 16; both sides are aligned to as many
};

llvm::Type *typeOf(IRBuilder<> &b, const Copy &copy) {
  return copy.bytes == 4 ? static_cast<llvm::Type *>(b.getInt32Ty())
                         : llvm::FixedVectorType::get(b.getInt32Ty(), copy.bytes / 4);
}

void copyWhole(IRBuilder<> &b, const Copy &copy) {
  llvm::Align align(copy.bytes);
  b.CreateAlignedStore(b.CreateAlignedLoad(typeOf(b, copy), copy.from, align), copy.to, align);
}

/// Only the first `count` bytes are read; zeros fill the rest.
void copyPart(IRBuilder<> &b, const Copy &copy, Value *count) {
  llvm::Instruction *here = &*b.GetInsertPoint(), *whole = nullptr, *part = nullptr;
  Value *isWhole = b.CreateICmpUGE(count, b.getInt32(copy.bytes));
  llvm::SplitBlockAndInsertIfThenElse(isWhole, here->getIterator(), &whole, &part);
  b.SetInsertPoint(whole);
  copyWhole(b, copy);
  b.SetInsertPoint(part);
  b.CreateAlignedStore(llvm::Constant::getNullValue(typeOf(b, copy)), copy.to, llvm::Align(copy.bytes));
  llvm::Instruction *some = llvm::SplitBlockAndInsertIfThen(b.CreateIsNotNull(count), part->getIterator(), false);
  auto [body, index] = llvm::SplitBlockAndInsertSimpleForLoop(count, some->getIterator());
  b.SetInsertPoint(body);
  Value *offset = b.CreateZExt(index, b.getInt64Ty());
  Value *byte = b.CreateAlignedLoad(b.getInt8Ty(), b.CreateGEP(b.getInt8Ty(), copy.from, offset), llvm::Align(1));
  b.CreateAlignedStore(byte, b.CreateGEP(b.getInt8Ty(), copy.to, offset), llvm::Align(1));
  b.SetInsertPoint(here);
}

void copyAsync(Site &site) {
  if (!site.has("global") || !(site.has("shared") || site.has("shared::cta")))
    return site.refuse("it copies from .global to .shared");
  std::optional<int64_t> bytes = site.constant(site.operand(2));
  bool passesL1 = site.statement.words[2] == "cg"; // which takes 16 bytes only
  if (!bytes || !(*bytes == 16 || (!passesL1 && (*bytes == 4 || *bytes == 8))))
    return site.refuse("it copies 4, 8 or 16 bytes, with .cg 16");
  Copy copy{site.address(0, sharedSpace), site.address(1, globalSpace), unsigned(*bytes)};
  if (site.operandCount() == 3 || site.constant(site.operand(3)) == *bytes)
    return copyWhole(site.b, copy);
  Register *size =
      site.operand(3).kind == Operand::Kind::Register ? site.registers.find(site.operand(3).name) : nullptr;
  if (size && size->type->isIntegerTy(1))
    return site.refuse("a predicate says whether to ignore the source");
  Value *count = site.bits(3, 32);
  if (site.problem.empty())
    copyPart(site.b, copy, count);
}

void wait(Site &site) {
  if (!site.constant(site.operand(0)))
    site.refuse("how many groups may be left is not known at compile time");
}
void nothing(Site &) {}

constexpr llvm::StringRef forms = "shared shared::cta global L2::64B L2::128B L2::256B";
constexpr Row rows[] = {
    {"cp.async.ca", forms, "", 0, 3, 4, copyAsync},      {"cp.async.cg", forms, "", 0, 3, 4, copyAsync},
    {"cp.async.commit_group", "", "", 0, 0, 0, nothing}, {"cp.async.wait_group", "", "", 0, 1, 1, wait},
    {"cp.async.wait_all", "", "", 0, 0, 0, nothing},
};
} // namespace

llvm::ArrayRef<Row> copyRows() { return rows; }

} // namespace opsight::cuda::ptx
