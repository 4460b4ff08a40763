#include "fuzz/reduce.h"

namespace opsight::fuzz {
namespace {

using Path = std::vector<size_t>;

Node &at(Node &root, const Path &path) {
  Node *node = &root;
  for (size_t step : path)
    node = &node->children[step];
  return *node;
}

/// Large parts first.
void paths(const Node &node, const Path &path, std::vector<Path> &result) {
  for (size_t i = 0; i < node.children.size(); ++i) {
    Path next = path;
    next.push_back(i);
    result.push_back(next);
    paths(node.children[i], next, result);
  }
}

void descendants(const Node &node, Node::Kind kind, unsigned depth, std::vector<Node> &result) {
  for (const Node &child : node.children) {
    if (child.kind == kind)
      result.push_back(child);
    if (depth > 0)
      descendants(child, kind, depth - 1, result);
  }
}

/// What may stand in `node`'s place, shortest first: nothing or a constant, then parts of its own.
std::vector<Node> replacements(const Node &node) {
  std::vector<Node> result;
  static const char *const plain[] = {";", "1", "1ll", "1.0f", "1.0", "true", "1", "half(1.0f)"};
  result.push_back({node.kind, plain[node.kind]});
  if (node.kind == Node::Int || node.kind == Node::Bool)
    result.push_back({node.kind, node.kind == Node::Bool ? "(t & 1)" : "t"});
  descendants(node, node.kind, 2, result);
  return result;
}
} // namespace

Kernel reduce(Kernel kernel, const std::function<bool(const Kernel &)> &fails, unsigned tries) {
  for (bool smaller = true; smaller && tries > 0;) {
    smaller = false;
    std::vector<Path> all;
    paths(kernel.body, {}, all);
    for (const Path &path : all) {
      Node old = at(kernel.body, path);
      std::string before = old.source();
      for (const Node &instead : replacements(old)) {
        std::string after = instead.source();
        if (after.size() > before.size() || after == before || (after.size() == before.size() && after > before) ||
            tries == 0)
          continue;
        --tries;
        at(kernel.body, path) = instead;
        if (fails(kernel)) {
          smaller = true;
          break;
        }
        at(kernel.body, path) = old;
      }
      if (smaller)
        break; // paths have changed
    }
  }
  return kernel;
}

} // namespace opsight::fuzz
