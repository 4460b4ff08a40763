// The worker's own folder for what drivers write (compiled kernels, linker inputs); the tool makes it and names it in
// the environment.
#pragma once
#include <filesystem>

namespace opsight::card {

inline constexpr const char *temporaryVariable = "OPSIGHT_WORKER_FOLDER";

std::filesystem::path temporaryFolder();
/// For when the tool can no longer do it.
void removeTemporaryFolder();

} // namespace opsight::card
