#include "port/folded_text.h"
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>

namespace opsight::port {

/// One code point at `at`, and how many bytes it takes; a broken byte stands for itself.
static std::pair<char32_t, size_t> decode(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(at);
  size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 1;
  if (length == 1 || at + length > text.size())
    return {lead, 1};
  char32_t code = lead & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (byte(at + i) >> 6 != 2)
      return {lead, 1};
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  return {code, length};
}

/// Spellings that mean the same in a request.
static const std::map<char32_t, std::string_view> &foldings() {
  static const std::map<char32_t, std::string_view> table = {
      {U'。', "\n"}, {U'、', "、"}, {U'×', "x"},  {U'✕', "x"},  {U'≤', "<="}, {U'⩽', "<="}, {U'≥', ">="},
      {U'⩾', ">="},  {U'–', "-"},   {U'—', ","},  {U'−', "-"},  {U'‑', "-"},  {U'\u3000', " "}, {U'\u00A0', " "},
      {U'“', " "},   {U'”', " "},   {U'‘', " "},  {U'’', " "},  {U'「', " "}, {U'」', " "},  {U'《', " "},
      {U'》', " "},  {U'…', ","},   {U'·', "*"},  {U'⁻', "^-"}, {U'"', " "},  {U'\'', " "},  {U'`', " "},
      {U'\t', " "},  {U'\r', " "},  {U'→', " "},  {U'⁰', "0"},  {U'¹', "1"},  {U'²', "2"},   {U'³', "3"},
      {U'⁴', "4"},   {U'⁵', "5"},   {U'⁶', "6"},  {U'⁷', "7"},  {U'⁸', "8"},  {U'⁹', "9"}};
  return table;
}

FoldedText fold(std::string_view original) {
  FoldedText folded;
  auto add = [&](std::string_view bytes, size_t from) {
    folded.text += bytes;
    folded.origin.insert(folded.origin.end(), bytes.size(), from);
  };
  for (size_t at = 0; at < original.size();) {
    auto [code, length] = decode(original, at);
    if (code >= 0xFF01 && code <= 0xFF5E)
      code -= 0xFF01 - '!'; // full-width form of an ASCII character
    if (auto found = foldings().find(code); found != foldings().end())
      add(found->second, at);
    else if (code < 0x80) {
      char c = static_cast<char>(std::tolower(static_cast<int>(code)));
      add(std::string_view(&c, 1), at);
    } else
      add(original.substr(at, length), at);
    at += length;
  }
  folded.origin.push_back(original.size());
  return folded;
}

static bool endsClause(const std::string &text, size_t i) {
  if (text[i] != '.')
    return std::string_view(",;:!?()\n").find(text[i]) != std::string_view::npos;
  return i + 1 >= text.size() || !std::isdigit(static_cast<unsigned char>(text[i + 1]));
}

std::vector<Span> clauses(const FoldedText &folded) {
  const std::string &text = folded.text;
  std::vector<Span> found;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    // "opencl:pocl" is one name: a colon between letters ends nothing.
    bool inName = i > 0 && i + 1 < text.size() && text[i] == ':' &&
                  std::isalnum(static_cast<unsigned char>(text[i - 1])) &&
                  std::isalnum(static_cast<unsigned char>(text[i + 1]));
    if (i < text.size() && (inName || !endsClause(text, i)))
      continue;
    size_t first = begin, last = i;
    while (first < last && text[first] == ' ')
      ++first;
    while (last > first && text[last - 1] == ' ')
      --last;
    if (first < last)
      found.push_back({first, last});
    begin = i + 1;
  }
  return found;
}

unsigned columnOf(std::string_view original, size_t offset) {
  auto prefix = original.substr(0, std::min(offset, original.size()));
  return 1 + static_cast<unsigned>(std::ranges::count_if(prefix, [](char c) { return (c & 0xC0) != 0x80; }));
}

} // namespace opsight::port
