// Vendor functions built into the worker: what Format::Library artifacts name.
#pragma once
#include "base/error.h"
#include <string>
#include <string_view>
#include <vector>

namespace opsight::card {

struct LibraryFunction {
  const char *name;
  /// Arguments as in abi.h (a Buffer: address of the pointer); seconds of the work alone, without preparation.
  Result<double> (*run)(const std::vector<const void *> &arguments);
};

/// "oneDNN 2.6.3"
std::string libraryVersion();

/// Null when the worker has no such function.
const LibraryFunction *findLibraryFunction(std::string_view name);

} // namespace opsight::card
