#include "port/number_words.h"
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

namespace opsight::port {

static bool digit(std::string_view text, size_t at) {
  return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
}

static size_t skipSpaces(std::string_view text, size_t at) {
  while (at < text.size() && text[at] == ' ')
    ++at;
  return at;
}

/// Length of one of `words` at `at`, the longest first; 0 for none.
static size_t wordAt(std::string_view text, size_t at, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words)
    if (text.substr(std::min(at, text.size())).starts_with(word))
      return word.size();
  return 0;
}

static constexpr std::string_view chineseDigits[] = {"零", "一", "二", "三", "四", "五", "六", "七", "八", "九"};

static std::optional<int> chineseDigit(std::string_view text, size_t &at) {
  if (text.substr(at).starts_with("两")) {
    at += std::string_view("两").size();
    return 2;
  }
  for (int i = 0; i < 10; ++i)
    if (text.substr(at).starts_with(chineseDigits[i])) {
      at += chineseDigits[i].size();
      return i;
    }
  return std::nullopt;
}

/// 一 to 九十九, and 一百.
static std::optional<int> chineseUpToHundred(std::string_view text, size_t &at) {
  size_t start = at;
  int tens = 0;
  std::optional<int> lead = chineseDigit(text, at);
  if (lead && text.substr(at).starts_with("百")) {
    at += std::string_view("百").size();
    return *lead * 100;
  }
  if (text.substr(at).starts_with("十")) {
    at += std::string_view("十").size();
    tens = lead.value_or(1) * 10;
    lead = chineseDigit(text, at);
    return tens + lead.value_or(0);
  }
  if (!lead)
    at = start;
  return lead;
}

static std::optional<WrittenNumber> chineseShare(std::string_view text) {
  static const std::pair<std::string_view, double> fractions[] = {
      {"千万分之一", 1e-7}, {"百万分之一", 1e-6}, {"十万分之一", 1e-5}, {"万分之一", 1e-4}, {"千分之一", 1e-3}};
  for (const auto &[word, value] : fractions)
    if (text.starts_with(word))
      return WrittenNumber{.value = value, .length = word.size()};
  size_t at = 0;
  if (size_t percent = wordAt(text, 0, {"百分之"})) {
    at = percent;
    if (digit(text, at)) {
      auto number = readNumber(text.substr(at));
      return WrittenNumber{.value = number->value / 100, .ratio = true, .length = at + number->length};
    }
    std::optional<int> value = chineseUpToHundred(text, at);
    return value ? std::optional(WrittenNumber{.value = *value / 100.0, .ratio = true, .length = at}) : std::nullopt;
  }
  std::optional<int> tenths = chineseDigit(text, at);
  size_t cheng = tenths ? wordAt(text, at, {"成"}) : 0;
  if (!cheng)
    return std::nullopt;
  at += cheng;
  double value = *tenths / 10.0;
  if (size_t half = wordAt(text, at, {"半"})) {
    at += half;
    value += 0.05;
  } else if (std::optional<int> hundredths = chineseDigit(text, at))
    value += *hundredths / 100.0;
  return WrittenNumber{.value = value, .ratio = true, .length = at};
}

/// "x10^-5", "*10^-5", "x10-5" behind a mantissa, or "^-5" behind 10.
static size_t powerOfTen(std::string_view text, size_t at, double &value) {
  size_t begin = skipSpaces(text, at);
  size_t times = wordAt(text, begin, {"x", "*"});
  size_t ten = times ? skipSpaces(text, begin + times) : begin;
  if (times && !text.substr(std::min(ten, text.size())).starts_with("10"))
    return at;
  size_t caret = times ? ten + 2 : at;
  if (!times && value != 10)
    return at;
  size_t exponent = caret + wordAt(text, caret, {"^", "**"});
  if (exponent == caret && !(times && text.substr(exponent).starts_with("-")))
    return at;
  exponent += wordAt(text, exponent, {"{", "("});
  int power = 0;
  auto [end, failed] = std::from_chars(text.data() + exponent, text.data() + text.size(), power);
  if (failed != std::errc() || std::abs(power) > 30)
    return at;
  value = times ? value * std::pow(10.0, power) : std::pow(10.0, power);
  size_t stop = static_cast<size_t>(end - text.data());
  return stop + wordAt(text, stop, {"}", ")"});
}

/// The columns of a size: "x64", "*64", "乘64", " by 64".
static size_t sizeBehind(std::string_view text, size_t at, int64_t &columns) {
  size_t begin = skipSpaces(text, at);
  size_t cross = wordAt(text, begin, {"x", "*", "乘以", "乘", "by "});
  if (!cross)
    return at;
  begin = skipSpaces(text, begin + cross);
  if (!digit(text, begin))
    return at;
  auto [end, failed] = std::from_chars(text.data() + begin, text.data() + text.size(), columns);
  return failed == std::errc() ? static_cast<size_t>(end - text.data()) : at;
}

/// "倍" or an x that ends the word: "0.7倍", "0.8x".
static size_t timesAt(std::string_view text, size_t at) {
  if (size_t times = wordAt(text, at, {"倍"}))
    return times;
  size_t cross = wordAt(text, at, {"x"});
  bool ends = at + 1 >= text.size() || !std::isalnum(static_cast<unsigned char>(text[at + 1]));
  return cross && ends ? cross : 0;
}

std::optional<WrittenNumber> readNumber(std::string_view text) {
  if (!digit(text, 0))
    return chineseShare(text);
  WrittenNumber number;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (failed != std::errc())
    return std::nullopt;
  size_t at = static_cast<size_t>(end - text.data());
  number.whole = std::ranges::all_of(text.substr(0, at), [](char c) { return c >= '0' && c <= '9'; });
  if (size_t power = powerOfTen(text, at, number.value); power != at) {
    number.whole = false;
    number.length = power;
    return number;
  }
  if (number.whole)
    if (size_t size = sizeBehind(text, at, number.columns); size != at) {
      number.rows = static_cast<int64_t>(number.value);
      number.length = size;
      return number;
    }
  size_t percent = skipSpaces(text, at);
  if (size_t sign = wordAt(text, percent, {"%", "percent", "per cent"})) {
    at = percent + sign;
    number.value /= 100;
    number.ratio = true;
    number.whole = false;
  } else if (size_t tenths = wordAt(text, at, {"成"})) {
    at += tenths;
    number.value /= 10;
    number.ratio = true;
    number.whole = false;
  } else if (size_t times = timesAt(text, at)) {
    at += times;
    number.ratio = true;
    number.whole = false;
  }
  number.length = at;
  return number;
}

} // namespace opsight::port
