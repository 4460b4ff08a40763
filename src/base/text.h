// Small text helpers that several rooms share.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opsight {

std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string toLower(std::string_view text); // ASCII only

/// The known name closest to `name` by edit distance, or "" when none is close enough to be meant.
std::string nearestName(std::string_view name, std::span<const std::string> known);

/// "unknown card 'cpx'" with ", did you mean 'cpu'?" or, where nothing is near, the list of what is known.
std::string unknownName(std::string_view kind, std::string_view name, std::span<const std::string> known);

} // namespace opsight
