// Which problem sight watches. It has to be small, since every access is looked at, and yet like the real ones: whole
// blocks, ordinary data.
#include "port/see.h"
#include <algorithm>
#include <functional>
#include <tuple>

namespace opsight::port {

namespace {

// Operations, or elements where the operator counts none: seconds of watching, and less than a minute of it.
constexpr double momentWork = 2e8, mostWork = 2e9;

/// That one thread's coming and going takes under watch, in operations: a launch of very many idle threads is work, too.
constexpr double threadWork = 100;

double workOf(const ops::Operator &op, const ops::Case &c) {
  double elements = 0;
  for (const ops::TensorInfo &info : op.tensors())
    if (Result<std::vector<int64_t>> extents = ops::extentsOf(info, c.symbols)) {
      double count = 1;
      for (int64_t extent : *extents)
        count *= double(extent);
      elements += count;
    }
  return std::max(op.work(c).flops, elements);
}

std::vector<std::string> symbolsOfGrid(const Launch &launch) {
  std::vector<std::string> all;
  for (const Placed &text : launch.grid)
    if (Result<std::vector<std::string>> used = opsight::symbolsOf(text.text))
      all.insert(all.end(), used->begin(), used->end());
  return all;
}

/// Blocks of the launch for one size less, or more, or so few; 0: no launch.
uint64_t blocksWith(const SourceCandidate &candidate, Symbols symbols, const std::string &name, int64_t size) {
  symbols[name] = size;
  const Result<card::LaunchConfig> launch = candidate.launchOf(symbols);
  return launch ? launch->grid.count() : 0;
}

/// The last block is full where one more of any size that the grid is made of needs another block. Of a size that the grid
/// divides by what a block takes, and rounds down, no block is left for one alone: there one less must do with fewer.
/// Where the grid is made of none, there has to be an element for each thread.
bool fillsBlocks(const ops::Operator &op, const SourceCandidate &candidate, const ops::Case &c) {
  const Symbols symbols = candidate.symbolsOf(c);
  const Result<card::LaunchConfig> launch = candidate.launchOf(symbols);
  if (!launch || launch->grid.count() == 0)
    return false;
  const std::vector<std::string> names = symbolsOfGrid(candidate.source().launch);
  for (const std::string &name : names) {
    const int64_t size = symbols.at(name);
    const bool roundsDown = size > 1 && blocksWith(candidate, symbols, name, 1) == 0;
    if (roundsDown ? blocksWith(candidate, symbols, name, size - 1) >= launch->grid.count()
                   : blocksWith(candidate, symbols, name, size + 1) <= launch->grid.count())
      return false;
  }
  return !names.empty() || workOf(op, c) >= double(launch->grid.count() * launch->block.count());
}

bool isOrdinary(const ops::Case &c) { return c.distribution == "normal" && c.traits.empty() && c.scalars.empty(); }

/// Whether [limits] let `c` through; `why` becomes the reason where they do not.
bool takes(const SourceCandidate &candidate, const ops::Case &c, std::string &why) {
  const Result<std::optional<std::string>> outside = candidate.outsideLimits(c);
  if (outside && !*outside)
    return true;
  why = outside ? **outside : outside.error().what;
  return false;
}

} // namespace

Result<std::vector<WatchChoice>> watchChoices(const Request &request, const SourceCandidate &candidate) {
  std::vector<WatchChoice> all;
  std::string whyNot;
  for (const ops::Case &c : request.cases) {
    if (!takes(candidate, c, whyNot))
      continue;
    if (workOf(*request.op, c) <= mostWork)
      all.push_back({c, "as asked for"});
    else
      whyNot = "too much work to watch every access of it";
  }
  const std::string unlike = request.cases.empty() || !all.empty() ? "" : "; not what was asked for: " + whyNot;
  using Rank = std::tuple<bool, bool, bool, double, int>; // the last: the operator's order
  std::vector<std::pair<Rank, WatchChoice>> own;
  for (const ops::Case &c : request.op->cases(request.options)) {
    if (!takes(candidate, c, whyNot))
      continue;
    const Result<card::LaunchConfig> launch = candidate.launchOf(candidate.symbolsOf(c));
    if (launch && launch->grid.count() == 0)
      continue; // nothing would be seen
    const double threads = launch ? double(launch->grid.count()) * double(launch->block.count()) : 0;
    const double work = std::max(workOf(*request.op, c), threadWork * threads);
    const bool isShort = work <= momentWork, fills = fillsBlocks(*request.op, candidate, c);
    const std::string which = std::string(request.op->isDeclared() ? "the port file's" : "the operator's") +
                              (fills ? ", with whole blocks" : ", its last blocks not full");
    own.push_back(
        {{isShort, fills, isOrdinary(c), isShort ? work : -work, -int(own.size())}, {c, which + unlike, true, fills}});
  }
  std::ranges::sort(own, std::greater(), [](const auto &each) { return each.first; });
  for (auto &[rank, each] : own)
    all.push_back(std::move(each));
  if (all.empty())
    return userError("no case is within the kernel's limits (" + whyNot + ")", "widen [limits], or name one by --case",
                     {request.file.string()});
  return all;
}

} // namespace opsight::port
