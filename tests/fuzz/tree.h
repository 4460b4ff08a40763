// A kernel as a tree of text, which can be made smaller without knowing what it means: see reduce.h.
#pragma once
#include <string>
#include <vector>

namespace opsight::fuzz {

struct Node {
  /// What the text is. Common: an integer that is the same for all threads of a block.
  enum Kind { Statement, Int, Long, Real, Double, Bool, Common, Half } kind = Statement;
  std::string text{}; // each '$' stands for the next child
  std::vector<Node> children{};

  std::string source() const {
    std::string result;
    size_t next = 0;
    for (char c : text)
      if (c == '$')
        result += children[next++].source();
      else
        result += c;
    return result;
  }
};

} // namespace opsight::fuzz
