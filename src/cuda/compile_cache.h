// Compiled modules, kept between runs. A module depends on the source's bytes, the compiler's arguments, this build of
// ours, and every header that Clang read: the last are only known behind the others, so they are kept beside the module
// and looked at when it is found.
#pragma once
#include "cuda/compile.h"
#include <optional>

namespace opsight::cuda {

/// The packed module (transfer.h) that compiling `request` now would give; none where it is not known.
std::optional<std::string> keptModule(const CompileRequest &request);
/// Keeps `packed`, the module that `request` gave after `files` were read.
void keepModule(const CompileRequest &request, const std::vector<std::string> &files, const std::string &packed);

} // namespace opsight::cuda
