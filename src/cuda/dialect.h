// Holds the front end to its word: whatever is not in the dialect of module.h is refused by name and line.
#pragma once
#include "cuda/module.h"

namespace opsight::cuda {

/// Unsupported for inline PTX, foreign intrinsics, device functions defined elsewhere, device malloc, managed variables
/// and printf with a format that is not a literal.
Status checkDialect(const llvm::Module &ir);

/// Where the user wrote what became `instruction`: the innermost place that is not in our own headers.
SourcePlace userPlace(const llvm::Instruction &instruction);

} // namespace opsight::cuda
