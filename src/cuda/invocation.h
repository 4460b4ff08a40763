// Clang's command line for a CUDA file: device side only, nvptx64, our headers first, no CUDA SDK and nothing from the
// environment.
#pragma once
#include "cuda/compile.h"

namespace opsight::cuda {

/// The arguments of `clang -cc1` for `request`. User error for an extra flag that is none of -D, -I, -std=.
Result<std::vector<std::string>> clangArguments(const CompileRequest &request);

/// The same for plain C++ that runs on this machine's processor.
std::vector<std::string> hostArguments(const std::string &file);

/// The folder of our CUDA headers, with a trailing slash.
std::string cudaHeaderFolder();

} // namespace opsight::cuda
