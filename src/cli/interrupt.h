// Ctrl-C and SIGTERM: the workers end, partial output goes, the tool leaves with code 130 (143).
#pragma once
#include <filesystem>

namespace opsight::cli {

/// Starts to listen; call once, before any other thread starts.
void watchForInterrupts();
/// What to remove when interrupted; an empty path takes the last one back.
void removeOnInterrupt(std::filesystem::path path);

} // namespace opsight::cli
