// The types of PTX instructions, and how the bits of a register hold them.
#pragma once
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <optional>

namespace opsight::cuda::ptx {

struct Type {
  enum class Kind { Unsigned, Signed, Bits, Float, BFloat, Predicate };
  Kind kind = Kind::Bits;
  unsigned bits = 32;    // of one element
  unsigned elements = 1; // 2: f16x2, bf16x2

  unsigned width() const { return bits * elements; }
  bool isFloat() const { return kind == Kind::Float || kind == Kind::BFloat; }
  bool isSigned() const { return kind == Kind::Signed; }
  Type element() const { return {kind, bits, 1}; }
  bool operator==(const Type &) const = default;
};

/// "f16x2"; nothing where `word` is no type (a modifier).
std::optional<Type> typeNamed(llvm::StringRef word);

/// What one element is computed in: an integer, i1, half, float, double; a bfloat in float.
llvm::Type *computedType(llvm::LLVMContext &context, const Type &type);

using Elements = llvm::SmallVector<llvm::Value *, 2>;
/// The elements that `word`, an integer of the type's width, holds, each in its computed type.
Elements unpack(llvm::IRBuilder<> &b, llvm::Value *word, const Type &type);
/// The reverse: a bfloat is rounded to nearest even, and NaN becomes 0x7FFF.
llvm::Value *pack(llvm::IRBuilder<> &b, llvm::ArrayRef<llvm::Value *> elements, const Type &type);

} // namespace opsight::cuda::ptx
