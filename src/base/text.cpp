#include "base/text.h"
#include <algorithm>
#include <cctype>
#include <utility>

namespace opsight {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (true) {
    size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end == text.npos ? text.npos : end - start));
    if (end == text.npos)
      return parts;
    start = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  auto isSpace = [](char c) { return std::isspace(static_cast<unsigned char>(c)); };
  while (!text.empty() && isSpace(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && isSpace(text.back()))
    text.remove_suffix(1);
  return text;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i)
      text += separator;
    text += parts[i];
  }
  return text;
}

std::string toLower(std::string_view text) {
  std::string lower(text);
  for (char &c : lower)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

/// Insertions, deletions, substitutions and swapped neighbours, each one edit (optimal string alignment).
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearestName(std::string_view name, std::span<const std::string> known) {
  std::string lower = toLower(name), best;
  size_t bestDistance = std::max<size_t>(1, name.size() / 3) + 1;
  for (const std::string &candidate : known) {
    std::string other = toLower(candidate);
    bool prefix = lower.size() >= 2 && other.starts_with(lower);
    size_t distance = prefix ? 1 : editDistance(lower, other);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string unknownName(std::string_view kind, std::string_view name, std::span<const std::string> known) {
  std::string text = "unknown " + std::string(kind) + " '" + std::string(name) + "'";
  if (std::string near = nearestName(name, known); !near.empty())
    return text + ", did you mean '" + near + "'?";
  if (known.empty())
    return text;
  return text + "; known: " + join(known, ", ");
}

} // namespace opsight
