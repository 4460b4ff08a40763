// Code of our own that is compiled to bitcode when Opsight is built (cmake/Bitcode.cmake) and joins kernels.
#pragma once
#include "base/error.h"
#include <llvm/IR/Module.h>
#include <memory>

namespace opsight::lower {

/// The library in `bytes`, made ready to join `module`: what it says of the host that it was compiled on is gone.
Result<std::unique_ptr<llvm::Module>> openBitcode(const char *name, const unsigned char *bytes, size_t size,
                                                  const llvm::Module &module);

} // namespace opsight::lower
