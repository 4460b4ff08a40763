// Text as TOML writes it.
#pragma once
#include <string>
#include <string_view>

namespace opsight::port {

/// A basic string; control characters, which TOML does not take as they are, become \uXXXX.
std::string tomlQuoted(std::string_view text);

} // namespace opsight::port
