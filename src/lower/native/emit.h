// From IR for the host to a shared library: LLVM's code generator, then lld in a process of its own.
#pragma once
#include "base/error.h"
#include <llvm/IR/Module.h>
#include <string>

namespace opsight::lower::native {

/// The module's machine code as text and as a relocatable ELF object.
struct Code {
  std::string object, assembly;
};
Result<Code> emit(llvm::Module &module, const std::string &processor);

/// What the linked library may need beside the C library's libm and libc.
enum class Needs { NothingMore, CppLibrary };

/// A shared library that exports `entry` alone.
Result<std::string> link(const std::string &object, const std::string &entry, Needs needs = Needs::NothingMore);

} // namespace opsight::lower::native
