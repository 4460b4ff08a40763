// Integer expressions over named symbols, as port files write them: "ceil_div(L, 64) * H".
#pragma once
#include "base/error.h"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace opsight {

/// A symbol's value in one case, e.g. {"L": 1024}. Symbols are case-sensitive.
using Symbols = std::map<std::string, int64_t>;

/// Value of `text`: integers, symbols, + - * / % ( ), min(a, b), max(a, b), ceil_div(a, b), unary minus, and one comparison
/// (== != < <= > >=) of two such, which is 1 or 0. Division truncates as in C. A syntax error, an unknown symbol (the nearest known one is named), a division by
/// zero or an overflow of 64 bits is a user error.
Result<int64_t> evaluate(std::string_view text, const Symbols &symbols);

/// The symbols that `text` mentions, in order of appearance, each once; a user error on bad syntax.
Result<std::vector<std::string>> symbolsOf(std::string_view text);

/// `text`, of an expression or of a template's arguments, with the value of each of `symbols` where its name stands as a
/// word of its own.
std::string withValues(std::string_view text, const Symbols &symbols);

} // namespace opsight
