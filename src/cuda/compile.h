// CUDA C++ source in, Module out: Clang 22 as a library, device side only, with the headers of include/opsight-cuda.
#pragma once
#include "cuda/module.h"
#include <map>

namespace opsight::cuda {

struct CompileRequest {
  std::string file;                           // path of the .cu
  std::string text{};                         // what to compile in place of what it holds; empty: that
  std::string kernel;                         // empty: the only one; "flash<64, 64>" for an instance of a template
  std::map<std::string, std::string> defines; // macros
  std::vector<std::string> includeFolders;
  bool fastMath = false;                      // --use_fast_math
  int optimization = 3;                       // 0 or 3: kernels must be right under both
  std::vector<std::string> extraFlags;        // "-D…", "-I…", "-std=…" only; anything else is a user error
};

/// What is compiled.
Result<std::string> sourceOf(const CompileRequest &request);

/// Names of all __global__ functions defined in the main file ("flash" for a template, with its parameters said).
Result<std::vector<std::string>> listKernels(const CompileRequest &request);

/// Compiles one kernel. User error with Clang's own words (file, line, caret) for code that does not compile, for no
/// kernel, or for several with none named; Unsupported with name and line for what Opsight does not have.
Result<Module> compile(const CompileRequest &request);

} // namespace opsight::cuda
