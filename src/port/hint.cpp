#include "port/hint.h"
#include "base/text.h"
#include <algorithm>
#include <charconv>

namespace opsight::port {

static std::optional<unsigned> number(std::string_view text, unsigned least, unsigned most) {
  unsigned value = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || value < least || value > most)
    return std::nullopt;
  return value;
}

static std::optional<std::string> oneOf(std::string_view value, std::initializer_list<std::string_view> known) {
  std::string lower = toLower(trim(value));
  for (std::string_view name : known)
    if (lower == name)
      return lower;
  return std::nullopt;
}

static std::optional<std::string> softmax(std::string_view value) { return oneOf(value, {"online", "max-before-sum"}); }

static std::optional<std::string> tile(std::string_view value) {
  std::string lower = toLower(trim(value));
  size_t cross = lower.find('x');
  if (cross == lower.npos)
    return std::nullopt;
  auto rows = number(std::string_view(lower).substr(0, cross), 1, 1024);
  auto columns = number(std::string_view(lower).substr(cross + 1), 1, 1024);
  if (!rows || !columns)
    return std::nullopt;
  return std::to_string(*rows) + "x" + std::to_string(*columns);
}

static std::optional<std::string> reduceStride(std::string_view value) {
  auto stride = number(trim(value), 1, 64);
  return stride ? std::optional(std::to_string(*stride)) : std::nullopt;
}

static std::optional<std::string> kv(std::string_view value) {
  if (oneOf(value, {"shared"}))
    return "shared,row-major"; // as C has it
  return oneOf(value, {"row-major", "shared,row-major", "column-major", "shared,column-major"});
}

static std::optional<std::string> order(std::string_view value) { return oneOf(value, {"accuracy-first"}); }

const std::vector<HintKind> &hintKinds() {
  static const std::vector<HintKind> kinds = {
      {"softmax", "online | max-before-sum",
       "three-phase online softmax; the maximum always updated before the sum", softmax, true},
      {"tile", "QUERIESxKEYS, each 1 to 1024", "tile of the matrix products", tile},
      {"reduce-stride", "1 to 64", "reductions unrolled with this stride", reduceStride},
      {"kv", "[shared,]row-major | [shared,]column-major", "how K and V are kept", kv},
      {"order", "accuracy-first", "nothing is timed before it is right", order},
  };
  return kinds;
}

Result<Hint> parseHint(std::string_view text, SourcePlace where) {
  std::vector<std::string> known;
  for (const HintKind &kind : hintKinds())
    known.push_back(kind.key);
  size_t equals = text.find('=');
  if (equals == text.npos)
    return userError("hint '" + std::string(text) + "' is not KEY=VALUE", "keys: " + join(known, ", "), where);
  std::string key(trim(text.substr(0, equals)));
  std::string_view value = trim(text.substr(equals + 1));
  auto kind = std::ranges::find(hintKinds(), key, &HintKind::key);
  if (kind == hintKinds().end())
    return userError(unknownName("hint", key, known), "hints: " + join(known, ", "), where);
  std::optional<std::string> canonical = kind->canonical(value);
  if (!canonical)
    return userError("hint " + key + " cannot be '" + std::string(value) + "'", key + " = " + kind->values, where);
  return Hint{key, *canonical, std::string(text), where};
}

Status addHint(std::vector<Hint> &hints, Hint hint) {
  bool repeatable = std::ranges::find(hintKinds(), hint.key, &HintKind::key)->repeatable;
  for (const Hint &other : hints) {
    if (other.key != hint.key || (other.value != hint.value && repeatable))
      continue;
    if (other.value == hint.value)
      return {};
    return userError("two different values of " + hint.key + ": " + other.value + " (\"" + other.said + "\") and " +
                         hint.value + " (\"" + hint.said + "\")",
                     "keep one of them", hint.where);
  }
  hints.push_back(std::move(hint));
  return {};
}

} // namespace opsight::port
