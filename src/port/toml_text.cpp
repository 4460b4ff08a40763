#include "port/toml_text.h"
#include <fmt/format.h>

namespace opsight::port {

std::string tomlQuoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += '\\';
    if (code < 0x20 || code == 0x7F)
      result += fmt::format("\\u{:04X}", code);
    else
      result += c;
  }
  return result + "\"";
}

} // namespace opsight::port
