// Columns that text takes on a terminal: Chinese characters take two, combining marks none.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace opsight::report {

size_t displayWidth(std::string_view text);
/// `text` with spaces behind it until it is `width` columns wide.
std::string padded(std::string_view text, size_t width);
/// `text` cut into lines of at most `width` columns, at spaces where there are some.
std::vector<std::string> wrapped(std::string_view text, size_t width);

/// Rows of cells under each other; all columns but the last are padded, and whatever does not fit `width` is wrapped.
std::string table(const std::vector<std::vector<std::string>> &rows, size_t indent, size_t width);

} // namespace opsight::report
