// See types.h.
#include "cuda/ptx/types.h"

namespace opsight::cuda::ptx {

using llvm::IRBuilder, llvm::Value;
using Kind = Type::Kind;

std::optional<Type> typeNamed(llvm::StringRef word) {
  struct Named {
    llvm::StringRef name;
    Type type;
  };
  static constexpr Named special[] = {{"pred", {Kind::Predicate, 1}},
                                      {"f16x2", {Kind::Float, 16, 2}},
                                      {"bf16", {Kind::BFloat, 16}},
                                      {"bf16x2", {Kind::BFloat, 16, 2}},
                                      {"tf32", {Kind::Bits, 32}}};
  for (const Named &named : special)
    if (named.name == word)
      return named.type;
  static constexpr std::pair<char, Kind> kinds[] = {
      {'u', Kind::Unsigned}, {'s', Kind::Signed}, {'b', Kind::Bits}, {'f', Kind::Float}};
  for (auto [letter, kind] : kinds)
    for (unsigned bits : {8u, 16u, 32u, 64u})
      if (word.size() > 1 && word[0] == letter && word.drop_front() == std::to_string(bits) &&
          !(letter == 'f' && bits == 8))
        return Type{kind, bits};
  return std::nullopt;
}

llvm::Type *computedType(llvm::LLVMContext &context, const Type &type) {
  if (type.kind == Kind::BFloat)
    return llvm::Type::getFloatTy(context);
  if (type.kind != Kind::Float)
    return llvm::Type::getIntNTy(context, type.bits);
  return type.bits == 16   ? llvm::Type::getHalfTy(context)
         : type.bits == 32 ? llvm::Type::getFloatTy(context)
                           : llvm::Type::getDoubleTy(context);
}

Elements unpack(IRBuilder<> &b, Value *word, const Type &type) {
  Elements all;
  for (unsigned i = 0; i < type.elements; ++i) {
    Value *bits = word;
    if (type.elements > 1)
      bits = b.CreateTrunc(b.CreateLShr(word, i * type.bits), b.getIntNTy(type.bits));
    if (type.kind == Kind::BFloat)
      bits = b.CreateShl(b.CreateZExt(bits, b.getInt32Ty()), 16);
    all.push_back(b.CreateBitCast(bits, computedType(b.getContext(), type)));
  }
  return all;
}

static Value *roundToBFloat(IRBuilder<> &b, Value *value) {
  Value *word = b.CreateBitCast(value, b.getInt32Ty());
  Value *odd = b.CreateAnd(b.CreateLShr(word, 16), 1);
  Value *rounded = b.CreateLShr(b.CreateAdd(word, b.CreateAdd(odd, b.getInt32(0x7fff))), 16);
  Value *isNan = b.CreateFCmpUNO(value, value);
  return b.CreateTrunc(b.CreateSelect(isNan, b.getInt32(0x7fff), rounded), b.getInt16Ty());
}

Value *pack(IRBuilder<> &b, llvm::ArrayRef<Value *> elements, const Type &type) {
  Value *word = nullptr;
  for (unsigned i = 0; i < type.elements; ++i) {
    Value *bits = type.kind == Kind::BFloat ? roundToBFloat(b, elements[i])
                                            : b.CreateBitCast(elements[i], b.getIntNTy(type.bits));
    if (type.elements == 1)
      return bits;
    Value *placed = b.CreateShl(b.CreateZExt(bits, b.getIntNTy(type.width())), i * type.bits);
    word = word ? b.CreateOr(word, placed) : placed;
  }
  return word;
}

} // namespace opsight::cuda::ptx
