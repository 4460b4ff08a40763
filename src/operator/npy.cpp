#include "operator/npy.h"
#include "base/file.h"
#include "base/text.h"
#include <charconv>
#include <cstring>

namespace opsight::ops {
namespace {

/// What stands behind `'key':` in the header, a dictionary as Python writes it.
std::string_view behind(std::string_view header, std::string_view key) {
  size_t at = header.find("'" + std::string(key) + "'");
  if (at == header.npos || (at = header.find(':', at)) == header.npos)
    return {};
  return trim(header.substr(at + 1));
}

Result<std::vector<int64_t>> shapeOf(std::string_view text) {
  auto broken = [] { return userError("a .npy header without a shape"); };
  if (!text.starts_with('(') || text.find(')') == text.npos)
    return broken();
  std::vector<int64_t> shape;
  for (const std::string &part : split(text.substr(1, text.find(')') - 1), ',')) {
    std::string_view digits = trim(part);
    if (digits.empty())
      continue; // "(5,)"
    int64_t extent = 0;
    auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), extent);
    if (failed != std::errc() || end != digits.data() + digits.size() || extent < 0)
      return broken();
    shape.push_back(extent);
  }
  return shape;
}

Result<NpyArray> parse(std::string bytes) {
  if (bytes.size() < 12 || !std::string_view(bytes).starts_with("\x93NUMPY"))
    return userError("not a .npy file");
  bool isShort = bytes[6] == 1;
  uint32_t length = 0;
  std::memcpy(&length, &bytes[8], isShort ? 2 : 4);
  size_t start = isShort ? 10 : 12;
  if (length > bytes.size() - start)
    return userError("a .npy file that is cut off");
  std::string_view header = std::string_view(bytes).substr(start, length);
  if (behind(header, "fortran_order").starts_with("True"))
    return userError("a .npy file in Fortran order", "save numpy.ascontiguousarray(…)");
  std::string_view type = behind(header, "descr");
  if (type.size() < 5 || (type[0] != '\'' && type[0] != '"') || (type[1] != '<' && type[1] != '|'))
    return userError("a .npy file that is no plain array of little-endian numbers");
  Result<std::vector<int64_t>> shape = shapeOf(behind(header, "shape"));
  if (!shape)
    return std::unexpected(shape.error());
  NpyArray array{std::string(type.substr(2, type.find(type[0], 1) - 2)), std::move(*shape), {}};
  array.bytes = bytes.substr(start + length);
  return array;
}

} // namespace

Result<NpyArray> readNpy(const std::filesystem::path &file) {
  Result<std::string> bytes = readFile(file, 4ull << 30);
  if (!bytes)
    return std::unexpected(bytes.error());
  Result<NpyArray> array = parse(std::move(*bytes));
  if (!array)
    return userError("'" + file.string() + "' is " + array.error().what, array.error().next);
  return array;
}

} // namespace opsight::ops
