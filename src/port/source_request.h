// A bare .cu file and options that say what a port file would.
#pragma once
#include "port/request.h"

namespace opsight::port {

/// As typed; empty where not given.
struct SourceOptions {
  std::string operatorName, kernel, grid, block, shared;
  std::vector<std::string> arguments, defines, options, limits; // NAME=VALUE each
};

Result<Request> requestForSource(const std::filesystem::path &file, const SourceOptions &said);

} // namespace opsight::port
