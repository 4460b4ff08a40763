// From LLVM IR prepared by the passes to validated SPIR-V words.
#pragma once
#include "base/error.h"
#include <llvm/IR/Module.h>
#include <string>

namespace opsight::lower::spirv {

struct Binary {
  std::string words;    // the module, little endian
  std::string readable; // its disassembly
};

/// Runs LLVM's SPIR-V back end and validates the result for the OpenCL environment. Every error is ours.
Result<Binary> emit(llvm::Module &module);

} // namespace opsight::lower::spirv
