// A recursive-descent reader that evaluates as it goes; the grammar is small enough to need no tree.
#include "base/expression.h"
#include "base/text.h"
#include <algorithm>
#include <cctype>
#include <functional>

namespace opsight {
namespace {

class Reader {
public:
  using Lookup = std::function<Result<int64_t>(std::string_view)>;
  Reader(std::string_view text, Lookup lookup) : text(text), lookup(std::move(lookup)) {}

  Result<int64_t> whole() {
    auto value = comparison();
    if (value && (skipSpace(), at < text.size()))
      return bad("unexpected '" + std::string(1, text[at]) + "'");
    return value;
  }

private:
  static constexpr int maxDepth = 64; // a hostile "((((…" must not exhaust the stack

  std::string_view text;
  Lookup lookup;
  size_t at = 0;
  int depth = 0;

  std::unexpected<Error> bad(std::string why) const {
    return userError("expression '" + std::string(text) + "': " + why,
                     "expressions are integers, symbols, + - * / % ( ) min max ceil_div == != < <= > >=");
  }
  void skipSpace() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }
  bool take(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }

  Result<int64_t> apply(char op, int64_t a, int64_t b) const {
    int64_t value = 0;
    if ((op == '/' || op == '%') && b == 0)
      return bad("division by zero");
    if ((op == '/' || op == '%') && b == -1)
      return op == '%' ? Result<int64_t>(0) : apply('-', 0, a);
    bool overflow = op == '+'   ? __builtin_add_overflow(a, b, &value)
                    : op == '-' ? __builtin_sub_overflow(a, b, &value)
                    : op == '*' ? __builtin_mul_overflow(a, b, &value)
                                : (value = op == '/' ? a / b : a % b, false);
    if (overflow)
      return bad("the value does not fit 64 bits");
    return value;
  }

  /// Consumes the comparison that stands here, if one does: "<=", not the "<" it begins with.
  std::string_view comparator() {
    skipSpace();
    for (std::string_view word : {"==", "!=", "<=", ">=", "<", ">"})
      if (text.substr(at).starts_with(word)) {
        at += word.size();
        return word;
      }
    return {};
  }

  Result<int64_t> comparison() {
    auto left = sum();
    if (!left)
      return left;
    std::string_view word = comparator();
    if (word.empty())
      return left;
    auto right = sum();
    if (!right)
      return right;
    return word == "=="   ? *left == *right
           : word == "!=" ? *left != *right
           : word == "<=" ? *left <= *right
           : word == ">=" ? *left >= *right
           : word == "<"  ? *left < *right
                          : *left > *right;
  }

  Result<int64_t> sum() {
    auto value = product();
    while (value) {
      char op = take('+') ? '+' : take('-') ? '-' : 0;
      if (!op)
        return value;
      auto right = product();
      if (!right)
        return right;
      value = apply(op, *value, *right);
    }
    return value;
  }

  Result<int64_t> product() {
    auto value = factor();
    while (value) {
      char op = take('*') ? '*' : take('/') ? '/' : take('%') ? '%' : 0;
      if (!op)
        return value;
      auto right = factor();
      if (!right)
        return right;
      value = apply(op, *value, *right);
    }
    return value;
  }

  Result<int64_t> factor() {
    if (++depth > maxDepth)
      return bad("too deeply nested");
    auto value = primary();
    --depth;
    return value;
  }

  Result<int64_t> primary() {
    if (take('-')) {
      auto value = factor();
      return value ? apply('-', 0, *value) : value;
    }
    if (take('(')) {
      auto value = comparison();
      if (value && !take(')'))
        return bad("a ')' is missing");
      return value;
    }
    skipSpace();
    if (at >= text.size())
      return bad("it ends too early");
    if (std::isdigit(static_cast<unsigned char>(text[at])))
      return number();
    if (std::isalpha(static_cast<unsigned char>(text[at])) || text[at] == '_')
      return name();
    return bad("unexpected '" + std::string(1, text[at]) + "'");
  }

  Result<int64_t> number() {
    Result<int64_t> value = 0;
    for (; value && at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at)
      if ((value = apply('*', *value, 10)))
        value = apply('+', *value, text[at] - '0');
    return value;
  }

  Result<int64_t> name() {
    size_t start = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'))
      ++at;
    std::string_view word = text.substr(start, at - start);
    if (!take('('))
      return lookup(word);
    if (word != "min" && word != "max" && word != "ceil_div")
      return bad("unknown function '" + std::string(word) + "'");
    auto a = sum();
    if (!a)
      return a;
    if (!take(','))
      return bad(std::string(word) + " takes two values");
    auto b = sum();
    if (!b)
      return b;
    if (!take(')'))
      return bad("a ')' is missing");
    if (word == "min")
      return std::min(*a, *b);
    if (word == "max")
      return std::max(*a, *b);
    if (*b == 0)
      return bad("division by zero");
    int64_t quotient = *a / *b;
    return quotient + ((*a % *b != 0) && ((*a < 0) == (*b < 0)));
  }
};

} // namespace

Result<int64_t> evaluate(std::string_view text, const Symbols &symbols) {
  return Reader(text, [&](std::string_view name) -> Result<int64_t> {
           if (auto found = symbols.find(std::string(name)); found != symbols.end())
             return found->second;
           std::vector<std::string> known;
           for (auto &[symbol, value] : symbols)
             known.push_back(symbol);
           return userError("expression '" + std::string(text) + "': " + unknownName("symbol", name, known));
         })
      .whole();
}

Result<std::vector<std::string>> symbolsOf(std::string_view text) {
  std::vector<std::string> names;
  auto value = Reader(text, [&](std::string_view name) -> Result<int64_t> {
                 if (std::find(names.begin(), names.end(), name) == names.end())
                   names.emplace_back(name);
                 return 1; // any value that divides
               }).whole();
  // Values are placeholders here, so only faults of syntax count; "1 / (L - 1)" is fine.
  if (!value && value.error().what.find("division by zero") == std::string::npos)
    return std::unexpected(value.error());
  return names;
}

std::string withValues(std::string_view text, const Symbols &symbols) {
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (isWord(text[at]))
      while (end < text.size() && isWord(text[end]))
        ++end;
    std::string word(text.substr(at, end - at));
    auto found = symbols.find(word);
    result += found == symbols.end() ? word : std::to_string(found->second);
    at = end;
  }
  return result;
}

} // namespace opsight
