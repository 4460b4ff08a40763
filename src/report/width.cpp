#include "report/width.h"
#include <algorithm>
#include <cstdint>
#include <numeric>

namespace opsight::report {

namespace {

struct Range {
  char32_t first, last;
};

/// East Asian Wide and Fullwidth blocks (Unicode 15, UAX #11), as far as requests and file names use them.
constexpr Range wide[] = {{0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},
                          {0xA000, 0xA4CF}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                          {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
constexpr Range zero[] = {{0x0300, 0x036F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}};

template <size_t n> bool in(const Range (&ranges)[n], char32_t code) {
  return std::ranges::any_of(ranges, [&](const Range &range) { return code >= range.first && code <= range.last; });
}

struct Character {
  size_t bytes, columns;
};

Character characterAt(std::string_view text, size_t at) {
  auto lead = static_cast<unsigned char>(text[at]);
  size_t bytes = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 1;
  if (bytes == 1 || at + bytes > text.size())
    return {1, 1};
  char32_t code = lead & (0xFF >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i)
    code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  return {bytes, in(zero, code) ? 0u : in(wide, code) ? 2u : 1u};
}

} // namespace

size_t displayWidth(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    Character c = characterAt(text, at);
    columns += c.columns;
    at += c.bytes;
  }
  return columns;
}

std::string padded(std::string_view text, size_t width) {
  size_t columns = displayWidth(text);
  return std::string(text) + std::string(columns < width ? width - columns : 0, ' ');
}

std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  size_t begin = 0, lastSpace = std::string_view::npos, columns = 0;
  for (size_t at = 0; at < text.size();) {
    Character c = characterAt(text, at);
    if (text[at] == '\n' || columns + c.columns > width) {
      bool atSpace = text[at] != '\n' && lastSpace != std::string_view::npos && lastSpace > begin;
      size_t end = atSpace ? lastSpace : at;
      lines.emplace_back(text.substr(begin, end - begin));
      begin = end;
      while (begin < text.size() && (text[begin] == ' ' || text[begin] == '\n'))
        ++begin;
      at = begin;
      columns = 0;
      lastSpace = std::string_view::npos;
      if (c.columns > width)
        at = begin = std::max(at, begin) + (at < text.size() ? c.bytes : 0); // a column too narrow for anything
      continue;
    }
    if (text[at] == ' ')
      lastSpace = at;
    columns += c.columns;
    at += c.bytes;
  }
  if (begin < text.size() || lines.empty())
    lines.emplace_back(text.substr(std::min(begin, text.size())));
  return lines;
}

/// Widths of all columns but the last. Where they would leave it too little, the widest give way, and their cells wrap.
static std::vector<size_t> columnWidths(const std::vector<std::vector<std::string>> &rows, size_t space) {
  std::vector<size_t> widths;
  for (const auto &row : rows)
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], displayWidth(row[i]));
    }
  auto total = [&] { return std::accumulate(widths.begin(), widths.end(), 2 * widths.size()); };
  constexpr size_t least = 8;
  while (!widths.empty() && total() > space * 3 / 5) {
    auto widest = std::ranges::max_element(widths);
    if (*widest <= least)
      break;
    --*widest;
  }
  return widths;
}

std::string table(const std::vector<std::vector<std::string>> &rows, size_t indent, size_t width) {
  std::vector<size_t> widths = columnWidths(rows, width > indent ? width - indent : 0);
  std::string text;
  for (const auto &row : rows) {
    std::vector<std::vector<std::string>> cells; // each as its lines
    size_t used = indent, height = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      bool last = i + 1 == row.size();
      cells.push_back(wrapped(row[i], last ? (width > used + 20 ? width - used : 20) : widths[i]));
      height = std::max(height, cells.back().size());
      used += last ? 0 : widths[i] + 2;
    }
    for (size_t n = 0; n < height; ++n) {
      std::string line(indent, ' ');
      for (size_t i = 0; i < row.size(); ++i) {
        std::string cell = n < cells[i].size() ? cells[i][n] : "";
        line += i + 1 == row.size() ? cell : padded(cell, widths[i] + 2);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  }
  return text;
}

} // namespace opsight::report
