// IEEE half precision by integers and floats, for cards that have none: builders of LLVM IR over the 16 bits of halves.
//
// Everything rounds once, to nearest, ties to even; subnormals are kept, what is too large becomes infinity, and a NaN
// stays a quiet NaN with the upper bits of its payload, as IEEE 754 hardware does. No float on the way is subnormal
// where that would matter, so a card that flushes subnormal floats gives the same bits. Scalars and vectors alike.
#pragma once
#include <llvm/IR/IRBuilder.h>

namespace opsight::lower {

/// Exact. `bits`: i16 or a vector of them; the result is float.
llvm::Value *floatOfHalf(llvm::IRBuilderBase &b, llvm::Value *bits);

/// `real`: float or double; the result is i16.
llvm::Value *roundToHalf(llvm::IRBuilderBase &b, llvm::Value *real);

/// x·y + z rounded once, all i16.
llvm::Value *fuseHalves(llvm::IRBuilderBase &b, llvm::Value *x, llvm::Value *y, llvm::Value *z);

} // namespace opsight::lower
