// The few single PTX instructions that public kernels write inline and that mean what an instruction of LLVM's means.
#pragma once
#include <llvm/IR/Module.h>

namespace opsight::cuda {

/// Replaces the inline PTX that is known; what is left is refused later, with its text (dialect.h).
void translateInlinePtx(llvm::Module &ir);

} // namespace opsight::cuda
