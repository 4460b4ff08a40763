// A module or an error as bytes, to cross from the compiler's process to ours.
#pragma once
#include "cuda/compile.h"

namespace opsight::cuda {

std::string packModule(const Result<Module> &module);
Result<Module> unpackModule(const std::string &bytes);

std::string packNames(const Result<std::vector<std::string>> &names);
Result<std::vector<std::string>> unpackNames(const std::string &bytes);

} // namespace opsight::cuda
