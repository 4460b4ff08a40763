// Files read whole and written whole: a reader never sees half of what we write.
#pragma once
#include "base/error.h"
#include <filesystem>
#include <string>
#include <string_view>

namespace opsight {

/// The file's bytes; a user error that says why it cannot be read. Refuses folders and anything over `maxBytes`.
Result<std::string> readFile(const std::filesystem::path &path, uint64_t maxBytes = 64u << 20);

/// Writes to a temporary file beside `path` and renames it, creating folders that are missing.
Status writeFile(const std::filesystem::path &path, std::string_view bytes);

/// The folder that holds the running program, for finding the worker, cards/ and include/opsight-cuda/.
std::filesystem::path programFolder();

/// The root of Opsight's own data (holds cards/, kernels/, include/): $OPSIGHT_ROOT, else the nearest folder above
/// the program that has them.
std::filesystem::path dataRoot();

} // namespace opsight
