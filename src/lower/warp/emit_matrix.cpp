// Products and loads of matrices that a warp holds together (cuda/matrix.h says which lane has what). All 32 lanes are
// one vector, so an operand's elements are vectors, too, and every step of the sum is a permutation of each side and
// one fused multiply-add for all lanes.
#include "cuda/matrix.h"
#include "lower/native/passes.h"
#include "lower/warp/emitter.h"
#include <llvm/Analysis/VectorUtils.h>

namespace opsight::lower::warp {

using cuda::MatrixElement, cuda::MatrixLoad, cuda::MatrixProduct, cuda::MatrixSum;
using llvm::Value;

constexpr unsigned warpSize = 32;

/// Element `i` of each lane's word, in the type in which it is multiplied. All are exact there.
static Value *elementOf(Emitter &emitter, Value *words, MatrixElement type, unsigned i) {
  llvm::IRBuilder<> &b = emitter.b;
  llvm::Type *floats = emitter.widened(b.getFloatTy()), *integers = emitter.widened(b.getInt32Ty());
  auto word = [&](uint32_t bits) { return llvm::ConstantInt::get(integers, bits); };
  switch (type) {
  case MatrixElement::TFloat: // the lower bits of the fraction are ignored
    return b.CreateBitCast(b.CreateAnd(words, word(0xffffe000)), floats);
  case MatrixElement::BFloat: {
    Value *bits = i ? b.CreateAnd(words, word(0xffff0000)) : b.CreateShl(words, 16);
    return b.CreateBitCast(bits, floats);
  }
  case MatrixElement::Half: {
    Value *bits = b.CreateTrunc(b.CreateLShr(words, 16 * i), emitter.widened(b.getInt16Ty()));
    return b.CreateFPExt(b.CreateBitCast(bits, emitter.widened(b.getHalfTy())), floats);
  }
  default: {
    Value *byte = b.CreateTrunc(b.CreateLShr(words, 8 * i), emitter.widened(b.getInt8Ty()));
    return type == MatrixElement::Signed8 ? b.CreateSExt(byte, integers) : b.CreateZExt(byte, integers);
  }
  }
}

/// C's sums or D's, four vectors: as the call has them, and as they are computed (half in float).
static Emitter::Values openSums(Emitter &emitter, MatrixSum type, llvm::ArrayRef<Value *> given) {
  if (type != MatrixSum::Half)
    return {given.begin(), given.end()};
  Emitter::Values sums;
  for (Value *words : given)
    for (unsigned i : {0u, 1u})
      sums.push_back(elementOf(emitter, words, MatrixElement::Half, i));
  return sums;
}
static Emitter::Values closeSums(Emitter &emitter, MatrixSum type, llvm::ArrayRef<Value *> sums) {
  if (type != MatrixSum::Half)
    return {sums.begin(), sums.end()};
  llvm::IRBuilder<> &b = emitter.b;
  Emitter::Values words;
  for (unsigned i : {0u, 2u}) {
    Value *halves[2];
    for (unsigned k : {0u, 1u}) {
      Value *rounded = b.CreateFPTrunc(sums[i + k], emitter.widened(b.getHalfTy()));
      Value *bits = b.CreateBitCast(rounded, emitter.widened(b.getInt16Ty()));
      halves[k] = b.CreateZExt(bits, emitter.widened(b.getInt32Ty()));
    }
    words.push_back(b.CreateOr(halves[0], b.CreateShl(halves[1], 16)));
  }
  return words;
}

static Value *permuted(llvm::IRBuilder<> &b, Value *value, llvm::function_ref<unsigned(unsigned lane)> from) {
  llvm::SmallVector<int> lanes;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    lanes.push_back(int(from(lane)));
  return b.CreateShuffleVector(value, lanes);
}

void Emitter::matrixProduct(llvm::CallInst &call, const MatrixProduct &product) {
  unsigned each = product.elementsPerWord(), words = product.words();
  auto argument = [&](unsigned i) { return vector(call.getArgOperand(i)); };
  Values given;
  for (unsigned i = 0; i < product.sums(); ++i)
    given.push_back(argument(3 * words + i));
  Values sums = openSums(*this, product.sum, given);
  for (unsigned k = 0; k < product.depth; ++k) {
    unsigned word = k / (4 * each), holder = k / each % 4, i = k % each; // the lane of four that has it, and where
    Value *columns = elementOf(*this, argument(2 * words + word), product.b, i);
    Value *factors[2], *others[2];
    for (unsigned half : {0u, 1u}) {
      Value *rows = elementOf(*this, argument(2 * word + half), product.a, i);
      factors[half] = permuted(b, rows, [&](unsigned lane) { return (lane & ~3u) + holder; });
      others[half] = permuted(b, columns, [&](unsigned lane) { return 4 * (2 * (lane & 3) + half) + holder; });
    }
    for (unsigned sum = 0; sum < 4; ++sum) {
      Value *x = factors[sum / 2], *y = others[sum % 2];
      sums[sum] = product.sum == MatrixSum::Int
                      ? b.CreateAdd(sums[sum], b.CreateMul(x, y))
                      : b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, sums[sum]});
    }
  }
  defineParts(&call, closeSums(*this, product.sum, sums));
}

// A matrix is eight rows of 16 bytes: behind each other they are the lanes' words, and as 64 elements the columns' too.
void Emitter::matrixLoad(llvm::CallInst &call, const MatrixLoad &load, Value *mask) {
  auto *row = llvm::FixedVectorType::get(b.getInt32Ty(), 4);
  Value *present = mask ? b.CreateFreeze(mask) : nullptr, *nowhere = nullptr;
  if (mask) { // a lane that is not there has no address
    nowhere = slot(row);
    b.CreateStore(llvm::Constant::getNullValue(row), nowhere);
    nowhere = b.CreateAddrSpaceCast(nowhere, b.getPtrTy(native::sharedSpace));
  }
  Values all;
  for (unsigned matrix = 0; matrix < load.count; ++matrix) {
    llvm::SmallVector<Value *> rows;
    for (unsigned i = 0; i < 8; ++i) {
      unsigned lane = 8 * matrix + i;
      Value *address = atLane(call.getArgOperand(0), lane);
      if (mask)
        address = b.CreateSelect(b.CreateExtractElement(present, uint64_t(lane)), address, nowhere);
      rows.push_back(b.CreateAlignedLoad(row, address, llvm::Align(16)));
    }
    Value *words = llvm::concatenateVectors(b, rows);
    if (load.transposed) {
      Value *elements = b.CreateBitCast(words, llvm::FixedVectorType::get(b.getInt16Ty(), 64));
      llvm::SmallVector<int> from;
      for (unsigned lane = 0; lane < warpSize; ++lane)
        for (unsigned i : {0u, 1u})
          from.push_back(int(8 * (2 * (lane % 4) + i) + lane / 4));
      words = b.CreateBitCast(b.CreateShuffleVector(elements, from), words->getType());
    }
    all.push_back(words);
  }
  defineParts(&call, all);
}

} // namespace opsight::lower::warp
