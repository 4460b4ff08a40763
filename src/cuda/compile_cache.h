// Compiled modules, kept between runs. A module depends on the source's bytes, the compiler's arguments, this build of
// ours, and every header that Clang read: the last are only known behind the others, so they are kept beside the module
// and looked at when it is found.
#pragma once
#include "cuda/compile.h"
#include <optional>

namespace opsight::cuda {

/// Names the source as it is now, the arguments and this build: to be asked for before the source is compiled. Empty where
/// that is not known; then nothing is kept.
std::string moduleKey(const CompileRequest &request);
/// The packed module (transfer.h) that compiling now would give; none where it is not known.
std::optional<std::string> keptModule(const std::string &key);
/// Keeps `packed`, the module that compiling gave after `files` were read.
void keepModule(const std::string &key, const std::vector<std::string> &files, const std::string &packed);

} // namespace opsight::cuda
