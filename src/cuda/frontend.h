// One run of Clang over one file: the unoptimised IR of everything in it and what the AST says of the kernel asked for.
#pragma once
#include "cuda/compile.h"

namespace opsight::cuda {

/// The whole translation unit's IR, with `kernel` filled from the AST. Not yet reduced to the kernel.
Result<Module> parseKernel(const CompileRequest &request);

/// The names for listKernels().
Result<std::vector<std::string>> parseKernelNames(const CompileRequest &request);

} // namespace opsight::cuda
