// See statement.h. A recursive descent over the characters: PTX needs no tokens of its own, since what a word means
// follows from where it stands.
#include "cuda/ptx/statement.h"
#include <bit>
#include <cerrno>
#include <cctype>
#include <cstdlib>

namespace opsight::cuda::ptx {
namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  std::expected<std::vector<Statement>, std::string> run() {
    std::vector<Statement> all;
    unsigned depth = 0;
    for (skip(); !atEnd() && problem.empty(); skip()) {
      if (take(';'))
        continue;
      if (take('{')) {
        all.push_back({.kind = Statement::Kind::Open});
        ++depth;
      } else if (take('}')) {
        all.push_back({.kind = Statement::Kind::Close});
        if (depth-- == 0)
          expected("an instruction");
      } else {
        all.push_back(peek('.') ? declaration() : instruction());
      }
    }
    if (problem.empty() && depth)
      expected("'}'");
    if (!problem.empty())
      return std::unexpected(problem);
    return all;
  }

private:
  bool atEnd() const { return at == text.size(); }
  bool peek(char c) const { return !atEnd() && text[at] == c; }
  bool take(char c) {
    skip();
    if (!peek(c))
      return false;
    ++at;
    skip();
    return true;
  }
  void need(char c) {
    if (!take(c))
      expected(std::string("'") + c + "'");
  }
  void expected(const std::string &what) {
    if (!problem.empty())
      return;
    std::string_view rest = text.substr(at).substr(0, 20);
    rest = rest.substr(0, rest.find('\n'));
    problem = rest.empty() ? "its end where " + what + " should be"
                           : "'" + std::string(rest) + "' where " + what + " should be";
  }
  /// Over blanks and comments.
  void skip() {
    while (!atEnd()) {
      std::string_view rest = text.substr(at);
      if (std::isspace(static_cast<unsigned char>(rest[0])))
        ++at;
      else if (rest.starts_with("//"))
        at += std::min(rest.find('\n'), rest.size());
      else if (rest.starts_with("/*") && rest.find("*/", 2) != rest.npos)
        at += rest.find("*/", 2) + 2;
      else
        return;
    }
  }

  Statement declaration();
  Statement instruction();
  std::vector<std::string> words();
  Operand operand();
  Operand address();
  Operand number(bool minus);
  std::string word(const char *alsoAllowed);
  std::string registerName();

  std::string_view text;
  size_t at = 0;
  std::string problem;
};

std::string Parser::word(const char *alsoAllowed) {
  size_t begin = at;
  while (!atEnd() && (isWord(text[at]) || std::string_view(alsoAllowed).contains(text[at])))
    ++at;
  return std::string(text.substr(begin, at - begin));
}

// "$0" is the compiler's, "%tid.x" the machine's, "p" the text's own.
std::string Parser::registerName() {
  std::string name;
  if (peek('$') || peek('%'))
    name = text[at++];
  bool isLetter = !atEnd() && isWord(text[at]) && (!isDigit(text[at]) || name == "$");
  std::string rest = isLetter ? word(name == "$" ? "" : ".$") : "";
  if (rest.empty())
    expected("a register");
  return name + rest;
}

std::vector<std::string> Parser::words() {
  std::vector<std::string> all;
  do {
    all.push_back(word(":"));
    if (all.back().empty())
      expected("an instruction");
  } while (peek('.') && ++at);
  return all;
}

// .reg .pred p, q;   .reg .b32 r<4>;
Statement Parser::declaration() {
  Statement made{.kind = Statement::Kind::Declaration};
  need('.');
  if (word("") != "reg") {
    at = text.rfind('.', at);
    expected("an instruction or '.reg'");
  }
  while (take('.') && problem.empty())
    made.words.push_back(word(""));
  do {
    Operand name{.name = registerName()};
    if (take('<')) {
      std::string count = word("");
      need('>');
      unsigned long many = std::strtoul(count.c_str(), nullptr, 10);
      if (many == 0 || many > 1000)
        expected("a count");
      for (unsigned long i = 0; i < many && problem.empty(); ++i)
        made.operands.push_back({.name = name.name + std::to_string(i)});
    } else {
      made.operands.push_back(name);
    }
  } while (take(',') && problem.empty());
  need(';');
  return made;
}

Statement Parser::instruction() {
  Statement made;
  if (take('@')) {
    made.guardNegated = take('!');
    made.guard = registerName();
    skip();
  }
  size_t begin = at;
  made.words = words();
  if (made.words.back().ends_with(':')) {
    at = begin;
    expected("an instruction, not a label,");
  }
  skip();
  if (peek(';'))
    ++at;
  else if (problem.empty()) {
    do
      made.operands.push_back(operand());
    while (take(',') && problem.empty());
    need(';');
  }
  return made;
}

Operand Parser::operand() {
  skip();
  if (take('{')) {
    Operand vector{.kind = Operand::Kind::Vector};
    do
      vector.parts.push_back(operand());
    while (take(',') && problem.empty());
    need('}');
    return vector;
  }
  if (take('['))
    return address();
  bool minus = take('-');
  if (minus || (!atEnd() && isDigit(text[at])))
    return number(minus);
  Operand made{.negated = take('!')};
  made.name = registerName();
  if (take('|'))
    made.second = registerName();
  skip();
  return made;
}

Operand Parser::address() {
  Operand made{.kind = Operand::Kind::Address, .name = registerName()};
  bool plus = take('+'), minus = take('-');
  if (plus || minus) {
    if (!atEnd() && isDigit(text[at])) {
      Operand offset = number(minus);
      if (offset.kind != Operand::Kind::Integer)
        expected("a whole number before this");
      made.bits = offset.bits;
    } else {
      made.second = registerName();
      if (minus)
        expected("a number before this");
    }
  }
  need(']');
  return made;
}

// A word that starts with a digit, and what only a decimal fraction has behind it.
Operand Parser::number(bool minus) {
  size_t begin = at;
  std::string digits = word("");
  bool fraction = peek('.') || (!digits.starts_with("0x") && !digits.starts_with("0X") && !digits.starts_with("0f") &&
                                !digits.starts_with("0F") && digits.find_first_of("eE") != digits.npos);
  char *end = nullptr;
  Operand made{.kind = Operand::Kind::Integer};
  if (fraction) {
    std::string whole(text.substr(begin));
    double value = std::strtod(whole.c_str(), &end);
    at = begin + size_t(end - whole.c_str());
    made.kind = Operand::Kind::Double;
    made.bits = std::bit_cast<uint64_t>(minus ? -value : value);
    skip();
    return made;
  }
  char form = digits.size() > 2 && digits[0] == '0' ? char(std::tolower(digits[1])) : '\0';
  if ((form == 'f' && digits.size() == 10) || (form == 'd' && digits.size() == 18)) {
    made.kind = form == 'f' ? Operand::Kind::Single : Operand::Kind::Double;
    made.bits = std::strtoull(digits.c_str() + 2, &end, 16);
    if (minus)
      made.bits ^= form == 'f' ? uint64_t(1) << 31 : uint64_t(1) << 63;
  } else {
    if (digits.ends_with('U'))
      digits.pop_back();
    int base = form == 'x' ? 16 : form == 'b' ? 2 : digits.starts_with('0') ? 8 : 10;
    errno = 0;
    made.bits = std::strtoull(digits.c_str() + (form == 'x' || form == 'b' ? 2 : 0), &end, base);
    if (errno == ERANGE)
      end = digits.data();
    if (minus)
      made.bits = 0 - made.bits;
  }
  if (*end) {
    at = begin;
    expected("a number");
  }
  skip();
  return made;
}
} // namespace

std::string Statement::name() const {
  std::string joined;
  for (const std::string &word : words)
    joined += (joined.empty() ? "" : ".") + word;
  return joined;
}

std::expected<std::vector<Statement>, std::string> parse(std::string_view text) { return Parser(text).run(); }

} // namespace opsight::cuda::ptx
