// Where an OpenCL driver is and what its worker's environment must say, so that the loader sees that driver alone.
#pragma once
#include "base/error.h"
#include <filesystem>
#include <map>
#include <string>

namespace opsight::card {

/// Copies the driver's .icd file to a folder of its own below `folder` and returns the environment that leads there.
/// `stem` is the .icd file's name, "pocl"; "intel" is also looked for in $OPSIGHT_INTEL_OPENCL and
/// build/intel-opencl (tools/setup-intel-opencl.sh). NoVerdict when it is nowhere.
Result<std::map<std::string, std::string>> openClEnvironment(const std::string &stem, const std::filesystem::path &folder);

} // namespace opsight::card
