// SPIR-V for drivers that take no IL: turned into the older SPIR bitcode by the SPIR-V translator of the driver's own
// LLVM version, in a process of its own.
#pragma once
#include "base/error.h"
#include <string>

namespace opsight::card {

Result<std::string> spirvToBitcode(const std::string &spirv);

} // namespace opsight::card
