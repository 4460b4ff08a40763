// From the IR of a whole file to the IR of one kernel: reduced, inlined, optimised, address spaces inferred.
#pragma once
#include "cuda/module.h"

namespace opsight::cuda {

/// Keeps the kernel `symbol` and what it reaches. Internal error when the module has no such function.
Status reduceToKernel(llvm::Module &ir, const std::string &symbol);

/// Runs the passes of `level` (0: only what the dialect of module.h promises; 3: all that keep the code translatable).
void optimise(llvm::Module &ir, int level);

} // namespace opsight::cuda
