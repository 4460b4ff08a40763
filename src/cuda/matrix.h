// What the threads of a warp do together with small matrices, as calls in the IR: products (PTX's mma.sync) and loads
// from shared memory (ldmatrix). Each of the 32 lanes holds some elements, packed in words of 32 bits, where the PTX
// ISA says ("Matrix Fragments for mma.m16n8k16 …"): with g = lane / 4, t = lane % 4 and e elements in a word, word w of
// A holds row g + 8 (w % 2), columns 4e (w / 2) + e t …; word w of B rows 4e w + e t … of column g; and the sum has
// rows g and g + 8, columns 2t and 2t + 1: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <optional>

namespace opsight::cuda {

enum class MatrixElement { Half, BFloat, TFloat, Signed8, Unsigned8 };
enum class MatrixSum { Float, Half, Int };

/// D = A B + C of 16 × depth, depth × 8 and 16 × 8 elements. The call takes A's words, B's, and C's four sums (Half:
/// two words of two), and returns a structure of D's.
struct MatrixProduct {
  unsigned depth = 16;
  MatrixElement a = MatrixElement::Half, b = MatrixElement::Half;
  MatrixSum sum = MatrixSum::Float;

  unsigned elementsPerWord() const;
  unsigned words() const { return depth / (4 * elementsPerWord()); } // of B; A has twice as many
  unsigned sums() const { return sum == MatrixSum::Half ? 2 : 4; }
};

/// `count` matrices of 8 × 8 elements of 16 bits. Lane 8 m + r gives the address, in shared memory, of row r of matrix
/// m; each lane gets of each matrix the word at row lane / 4, elements 2 (lane % 4) …, or, transposed, those of the
/// column lane / 4. The call returns a structure of words.
struct MatrixLoad {
  unsigned count = 1;
  bool transposed = false;
};

llvm::CallInst *createMatrixProduct(llvm::IRBuilder<> &b, const MatrixProduct &product,
                                    llvm::ArrayRef<llvm::Value *> words);
llvm::CallInst *createMatrixLoad(llvm::IRBuilder<> &b, const MatrixLoad &load, llvm::Value *address);
std::optional<MatrixProduct> asMatrixProduct(const llvm::Value &value);
std::optional<MatrixLoad> asMatrixLoad(const llvm::Value &value);

} // namespace opsight::cuda
