// Facts that only the finished IR has: memory accesses by address space, and how much shared memory is left in it.
#pragma once
#include "cuda/module.h"

namespace opsight::cuda {

/// Adds loads and stores (each place, kind, space and width once) and the bytes of shared memory to `facts`.
void addAccessFacts(const llvm::Module &ir, Facts &facts);

} // namespace opsight::cuda
