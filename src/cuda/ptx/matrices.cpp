// ldmatrix and mma.sync become the calls of cuda/matrix.h.
#include "cuda/matrix.h"
#include "cuda/ptx/shared_numbers.h"
#include "cuda/ptx/site.h"

namespace opsight::cuda::ptx {
namespace {
using llvm::Value;
using Kind = Type::Kind;

llvm::ArrayRef<Operand> registersOf(const Operand &operand) {
  return operand.kind == Operand::Kind::Vector ? llvm::ArrayRef(operand.parts) : llvm::ArrayRef(operand);
}

void writeParts(Site &site, llvm::ArrayRef<Operand> targets, Value *structure) {
  for (unsigned i = 0; i < targets.size(); ++i) {
    Value *part = site.b.CreateExtractValue(structure, i);
    site.write(targets[i], site.b.CreateBitCast(part, site.b.getInt32Ty()));
  }
}

void loadMatrix(Site &site) {
  MatrixLoad load{.count = site.has("x4") ? 4u : site.has("x2") ? 2u : 1u, .transposed = site.has("trans")};
  llvm::ArrayRef<Operand> targets = registersOf(site.operand(0));
  bool isSaid =
      site.has("m8n8") && (site.has("x1") || load.count > 1) && (site.has("shared") || site.has("shared::cta"));
  if (!isSaid || targets.size() != load.count)
    return site.refuse("it loads .m8n8 .x1, .x2 or .x4 from .shared into as many registers");
  Value *address = site.address(1, sharedSpace);
  writeParts(site, targets, createMatrixLoad(site.b, load, address));
}

std::optional<MatrixElement> elementOf(const Type &type, llvm::StringRef word) {
  if (word == "tf32")
    return MatrixElement::TFloat;
  if (type.bits == 16)
    return type.kind == Kind::BFloat ? MatrixElement::BFloat : MatrixElement::Half;
  if (type.bits == 8)
    return type.isSigned() ? MatrixElement::Signed8 : MatrixElement::Unsigned8;
  return std::nullopt;
}

/// The product that the statement's words ask for, if PTX has it and we do.
std::optional<MatrixProduct> asked(Site &site) {
  const std::vector<std::string> &words = site.statement.words;
  size_t first = words.size() - 4; // D, A, B, C
  auto a = elementOf(site.type(1), words[first + 1]), b = elementOf(site.type(2), words[first + 2]);
  bool isBytes = a && (*a == MatrixElement::Signed8 || *a == MatrixElement::Unsigned8);
  bool bothBytes = isBytes && b && (*b == MatrixElement::Signed8 || *b == MatrixElement::Unsigned8);
  if (!a || !b || (*a != *b && !bothBytes) || words[first] != words[first + 3])
    return std::nullopt;
  MatrixProduct product{.depth = 0, .a = *a, .b = *b};
  llvm::StringRef sum = words[first];
  if (bothBytes ? sum != "s32" : sum != "f32" && !(sum == "f16" && *a == MatrixElement::Half))
    return std::nullopt;
  product.sum = bothBytes ? MatrixSum::Int : sum == "f16" ? MatrixSum::Half : MatrixSum::Float;
  for (unsigned blocks : {1u, 2u})
    if (unsigned depth = blocks * 4 * product.elementsPerWord(); site.has("m16n8k" + std::to_string(depth)))
      product.depth = depth;
  bool order = words.size() == 10 && words[4] == "row" && words[5] == "col"; // mma.sync.aligned.SHAPE.row.col.D.A.B.C
  return order && product.depth ? std::optional(product) : std::nullopt;
}

void multiply(Site &site) {
  std::optional<MatrixProduct> product = asked(site);
  if (!product)
    return site.refuse("no such product of matrices");
  const unsigned counts[] = {product->sums(), 2 * product->words(), product->words(), product->sums()};
  llvm::SmallVector<Value *> words;
  for (unsigned i = 0; i < 4; ++i) {
    llvm::ArrayRef<Operand> registers = registersOf(site.operand(i));
    if (registers.size() != counts[i])
      return site.refuse("operand " + std::to_string(i + 1) + " needs " + std::to_string(counts[i]) + " registers");
    for (const Operand &word : i ? registers : llvm::ArrayRef<Operand>()) {
      Value *bits = site.bits(word, 32);
      words.push_back(i == 3 && product->sum == MatrixSum::Float ? site.b.CreateBitCast(bits, site.b.getFloatTy())
                                                                 : bits);
    }
  }
  writeParts(site, registersOf(site.operand(0)), createMatrixProduct(site.b, *product, words));
}

constexpr Row rows[] = {
    {"ldmatrix.sync.aligned", "m8n8 x1 x2 x4 trans shared shared::cta", "b16", 1, 2, 2, loadMatrix},
    {"mma.sync.aligned", "m16n8k4 m16n8k8 m16n8k16 m16n8k32 row col", "f16 bf16 tf32 f32 s8 u8 s32", 4, 4, 4, multiply},
};
} // namespace

llvm::ArrayRef<Row> matrixRows() { return rows; }

} // namespace opsight::cuda::ptx
