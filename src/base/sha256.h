// SHA-256 (FIPS 180-4), for the hashes in manifests: who replays a verdict can check that the code is the same.
#pragma once
#include <string>
#include <string_view>

namespace opsight {

/// 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

} // namespace opsight
