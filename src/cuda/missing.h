// What CUDA has and Opsight does not (yet): names and headers, so that their absence is told as such and never as a
// spelling mistake of the user's.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace opsight::cuda {

/// Which part of CUDA `name` (an identifier, perhaps qualified) belongs to, if it is known and missing:
/// "texture functions".
std::optional<std::string_view> missingName(std::string_view name);

/// Which library the header belongs to, if it is one of CUDA's that Opsight has not: "the cub library".
std::optional<std::string_view> missingHeader(std::string_view header);

} // namespace opsight::cuda
