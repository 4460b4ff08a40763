// Fusing products into sums, as nvcc and Clang do by default.
#pragma once
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Function.h>

namespace opsight::lower {

/// Every product of a type in `which` that may fuse (`contract`), and whose every use is a sum that may, becomes llvm.fma.
void fuseMultiplyAdds(llvm::Function &function, llvm::function_ref<bool(const llvm::Type *)> which);

} // namespace opsight::lower
