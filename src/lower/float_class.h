// What llvm.is.fpclass asks, by integers: no comparison that a card could flush or reorder.
#pragma once
#include <llvm/IR/IRBuilder.h>

namespace opsight::lower {

/// Whether an IEEE number, given as its bits (an integer or a vector of them) with `fractionBits` stored bits of fraction,
/// is of one of the classes in `mask`, an llvm::FPClassTest. The result is i1.
llvm::Value *isOfClass(llvm::IRBuilderBase &b, llvm::Value *bits, unsigned fractionBits, unsigned mask);

} // namespace opsight::lower
