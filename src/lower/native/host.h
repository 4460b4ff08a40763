// The processor that native code is compiled for.
#pragma once
#include "base/error.h"
#include <llvm/Target/TargetMachine.h>
#include <memory>
#include <string>

namespace opsight::lower::native {

/// "native": the host's own processor and every feature it has; else a name that LLVM knows, "x86-64-v3". A user error
/// for another name.
Result<std::unique_ptr<llvm::TargetMachine>> targetMachine(const std::string &processor);

} // namespace opsight::lower::native
