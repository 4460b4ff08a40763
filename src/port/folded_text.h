// A sentence made easy to compare: full-width forms, cases, quotes and signs folded to one spelling each, and for every
// byte of the folded text the place in the original, so that messages can show exactly what the user wrote.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace opsight::port {

struct FoldedText {
  std::string text;           // lower-case, ASCII punctuation; '\n' ends a sentence
  std::vector<size_t> origin; // for each byte of `text`, and one past it: byte offset in the original
};

FoldedText fold(std::string_view original);

struct Span {
  size_t begin = 0, end = 0; // bytes of FoldedText::text
};

/// The clauses of a folded text: what lies between , ; : ! ? ( ) line ends and full stops (a point within a number is
/// none). Empty clauses are left out.
std::vector<Span> clauses(const FoldedText &folded);

/// Characters (code points) in front of byte `offset`, plus one.
unsigned columnOf(std::string_view original, size_t offset);

} // namespace opsight::port
