#include "port/source_variants.h"
#include "base/file.h"
#include "base/text.h"
#include "port/parameters.h"
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <set>

namespace opsight::port {

namespace {

constexpr int unrolls[] = {2, 4};
constexpr size_t mostLoops = 4; // the innermost ones stand last in a source; more would take the search's whole time

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// "tile" of "float tile[32][32]".
std::string arrayName(const std::string &what) {
  size_t open = what.find('[');
  size_t end = open == what.npos ? 0 : open, begin = end;
  while (begin > 0 && isWord(what[begin - 1]))
    --begin;
  return what.substr(begin, end - begin);
}

/// Where the last extent of the array's declarator ends, "]" of "tile[32][32]"; npos where `line` declares none of two
/// dimensions or more by that name.
size_t endOfLastExtent(const std::string &line, const std::string &name) {
  for (size_t at = line.find(name); at != line.npos; at = line.find(name, at + 1)) {
    size_t next = at + name.size();
    if ((at > 0 && isWord(line[at - 1])) || next >= line.size() || line[next] != '[')
      continue;
    int extents = 0;
    size_t last = line.npos;
    while (next < line.size() && line[next] == '[') {
      int depth = 0;
      size_t close = next;
      for (; close < line.size(); ++close) {
        depth += line[close] == '[' ? 1 : line[close] == ']' ? -1 : 0;
        if (depth == 0)
          break;
      }
      if (close == line.size())
        return line.npos;
      last = close;
      next = close + 1;
      ++extents;
    }
    return extents >= 2 ? last : line.npos;
  }
  return line.npos;
}

/// Of a line, what stands before its first word.
std::string indentOf(const std::string &line) { return line.substr(0, line.find_first_not_of(" \t")); }

/// Whether a loop begins the line, so that a pragma before the line is one before the loop, and the line above has none.
bool takesPragma(const std::vector<std::string> &lines, size_t at) {
  std::string_view line = trim(std::string_view(lines[at]));
  bool isLoop = line.starts_with("for (") || line.starts_with("for(");
  return isLoop && (at == 0 || !trim(std::string_view(lines[at - 1])).starts_with("#pragma"));
}

std::string joined(const std::vector<std::string> &lines) { return join(lines, "\n"); }

} // namespace

std::vector<SourceVariant> sourceVariants(const std::string &text, const cuda::Facts &facts, const std::string &file) {
  std::vector<SourceVariant> variants;
  const std::vector<std::string> lines = split(text, '\n');
  std::set<unsigned> loops;
  for (const cuda::Fact &fact : facts.all) {
    if (fact.where.file != file || fact.where.line == 0 || fact.where.line > lines.size())
      continue;
    const size_t at = fact.where.line - 1;
    if (fact.kind == cuda::Fact::Kind::SharedArray) {
      const std::string name = arrayName(fact.what);
      const size_t end = name.empty() ? std::string::npos : endOfLastExtent(lines[at], name);
      if (end == std::string::npos)
        continue;
      std::vector<std::string> changed = lines;
      changed[at].insert(end, " + 1");
      variants.push_back({"pad " + name, joined(changed)});
    } else if (fact.kind == cuda::Fact::Kind::Loop && !fact.unrolled && fact.trips < 0 && takesPragma(lines, at)) {
      loops.insert(fact.where.line);
    }
  }
  while (loops.size() > mostLoops)
    loops.erase(loops.begin());
  for (unsigned line : loops)
    for (int count : unrolls) {
      std::vector<std::string> changed = lines;
      changed.insert(changed.begin() + line - 1, indentOf(lines[line - 1]) + fmt::format("#pragma unroll {}", count));
      variants.push_back({fmt::format("unroll {} at {}", count, line), joined(changed)});
    }
  return variants;
}

std::vector<Proposal> proposeVariants(const Request &request, const cuda::Module &module) {
  std::vector<Proposal> proposals;
  Result<std::string> text = readFile(request.source);
  if (!text)
    return proposals;
  for (SourceVariant &variant : sourceVariants(*text, module.kernel.facts, module.sourceFile)) {
    Request changed = request;
    changed.sourceText = std::move(variant.text);
    Proposal proposal{.name = "source-variants/" + variant.name,
                      .proposer = "source-variants",
                      .declared = std::make_shared<const Request>(std::move(changed))};
    proposal.first = standardValues(request.parameters);
    proposal.others = {proposal.first};
    proposal.isLate = true;
    proposals.push_back(std::move(proposal));
  }
  return proposals;
}

std::string lineDiff(const std::string &before, const std::string &after, const std::string &name) {
  const std::vector<std::string> old = split(before, '\n'), now = split(after, '\n');
  std::string text = fmt::format("--- a/{0}\n+++ b/{0}\n", name);
  size_t first = 0, last = 0; // lines that are equal at the beginning and at the end
  while (first < std::min(old.size(), now.size()) && old[first] == now[first])
    ++first;
  while (last < std::min(old.size(), now.size()) - first && old[old.size() - 1 - last] == now[now.size() - 1 - last])
    ++last;
  const size_t removed = old.size() - first - last, added = now.size() - first - last;
  text += fmt::format("@@ -{},{} +{},{} @@\n", removed ? first + 1 : first, removed, added ? first + 1 : first, added);
  for (size_t n = 0; n < removed; ++n)
    text += "-" + old[first + n] + "\n";
  for (size_t n = 0; n < added; ++n)
    text += "+" + now[first + n] + "\n";
  return text;
}

} // namespace opsight::port
