// Results that cost time to make, kept in files between runs: $OPSIGHT_CACHE, else $XDG_CACHE_HOME/opsight, else
// ~/.cache/opsight; OPSIGHT_CACHE=off keeps nothing. What cannot be kept or is damaged is made anew, never an error.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace opsight {

/// What was kept under `key`, bit for bit.
std::optional<std::string> fromCache(std::string_view key);
/// Keeps `bytes` under `key`, which names everything that they depend on. The oldest files go where there are too many.
void toCache(std::string_view key, std::string_view bytes);

/// Tells this build of the running program from any other: part of every key.
std::string programStamp();

} // namespace opsight
