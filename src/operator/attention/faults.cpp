// One evaluator with a knob for each fault; knownFaults turns one knob (or two) at a time.
#include "operator/attention/faults.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace opsight::ops::attention {
namespace {

constexpr double none = -std::numeric_limits<double>::infinity();

/// A key's score and where its value lies; a null value counts as zeros.
struct Entry {
  double score;
  const float *value;
};

double maskTerm(const Inputs &in, const Row &row, int64_t j, const Fault &fault) {
  if (!in.mask.tensor || fault.ignoreMask)
    return 0;
  double term = double(in.mask.at(row.b, row.h, row.i, j));
  if (fault.invertMask)
    term = term == 0 ? none : 0;
  if (fault.sentinel != 0 && term == none)
    return fault.sentinel;
  return term;
}

std::vector<Entry> entriesOf(const Inputs &in, const Row &row, const Fault &fault) {
  Shape shape = in.shape;
  if (fault.causal)
    shape.causal = *fault.causal;
  double scale = fault.scale.value_or(shape.scale);
  int64_t kv = fault.kvHead.value_or(fault.tileHeads ? row.h % shape.Hkv : shape.kvHead(row.h));
  int64_t batch = fault.batch.value_or(row.b), dims = fault.dropDims ? shape.D / fault.dropDims * fault.dropDims : shape.D;
  int64_t seen = std::clamp<int64_t>(shape.visibleKeys(row.i) + fault.keyOffset, 0, shape.S);
  int64_t begin = fault.skipTile ? std::min(fault.skipTile, seen) : 0;
  if (fault.onlyTile && seen > 0)
    begin = (seen - 1) / fault.onlyTile * fault.onlyTile;
  int64_t end = fault.dropTail ? std::min(seen, shape.S / fault.dropTail * fault.dropTail) : seen;
  std::vector<Entry> entries;
  for (int64_t j = begin; j < end; ++j) {
    const float *q = in.q(row.b, row.h, row.i), *k = in.k(batch, kv, j);
    double score = 0;
    for (int64_t d = 0; d < dims; ++d)
      score += double(q[d]) * double(k[d]);
    double term = maskTerm(in, row, j, fault);
    score = fault.maskScaled ? (score + term) * scale : score * scale + term;
    entries.push_back({fault.noSoftmax && score != none ? 0 : score, in.v(batch, kv, j)});
  }
  if (fault.padTo)
    entries.resize(size_t((shape.S + fault.padTo - 1) / fault.padTo * fault.padTo - (shape.S - int64_t(entries.size()))),
                   {0, nullptr});
  return entries;
}

double expOf(double x, bool flush) {
  double e = std::exp(x);
  return flush && e < double(std::numeric_limits<float>::min()) ? 0 : flush && x > 88.72 ? INFINITY : e;
}

} // namespace

FaultyRow faultyRow(const Inputs &in, const Row &row, const Fault &fault) {
  std::vector<Entry> entries = entriesOf(in, row, fault);
  int64_t tile = fault.tile ? fault.tile : std::max<int64_t>(1, int64_t(entries.size()));
  double maximum = fault.startMaximum.value_or(none), sum = 0;
  std::vector<double> acc(size_t(in.shape.Dv));
  for (size_t begin = 0; begin < entries.size(); begin += size_t(tile)) {
    size_t end = std::min(entries.size(), begin + size_t(tile));
    double larger = maximum;
    for (size_t n = begin; n < end; ++n)
      larger = std::max(larger, entries[n].score);
    if (larger == none)
      continue;
    double rescale = maximum == none ? 1 : std::exp(maximum - larger);
    if (!fault.keepSum && !fault.sumBeforeRescale)
      sum *= rescale;
    if (!fault.keepAccumulator)
      for (double &x : acc)
        x *= rescale;
    for (size_t n = begin; n < end; ++n) {
      double p = expOf(entries[n].score - larger, fault.flush);
      sum += p;
      for (int64_t d = 0; entries[n].value && d < in.shape.Dv; ++d)
        acc[size_t(d)] += p * double(entries[n].value[d]);
    }
    if (fault.sumBeforeRescale)
      sum *= rescale;
    maximum = larger;
  }
  for (double &x : acc)
    if (!fault.noNormalise)
      x = sum != 0 || fault.flush ? x / sum : 0;
  return {std::move(acc), sum != 0 ? maximum + std::log(sum) : none};
}

namespace {

constexpr int64_t tiles[] = {1, 8, 16, 32, 64, 128};

void scaleFaults(const Shape &s, std::vector<Fault> &all) {
  double d = double(s.D);
  auto add = [&](std::string what, double scale) {
    auto same = [&](const Fault &f) { return std::abs(*f.scale - scale) <= 1e-6 * std::abs(scale); };
    if (std::abs(scale - s.scale) > 1e-6 * std::abs(s.scale) && std::ranges::none_of(all, same))
      all.push_back({.phase = "scores", .what = std::move(what), .scale = scale});
  };
  add("the scores are not scaled", 1);
  add(fmt::format("the scores are divided by D = {} and not by its root", s.D), 1 / d);
  add(fmt::format("the scores are multiplied by the root of D = {}", s.D), std::sqrt(d));
  add(fmt::format("the scale is 1/sqrt(Dv) = {:.6g}, of the value's width", 1 / std::sqrt(double(s.Dv))),
      1 / std::sqrt(double(s.Dv)));
  add(fmt::format("the scale is 1/sqrt(D) = {:.6g}, not the {:.6g} that was asked for", 1 / std::sqrt(d), s.scale),
      1 / std::sqrt(d));
  add("the scale is applied twice", s.scale * s.scale);
  add("the exponential is to base 2 and the scale lacks log2(e)", s.scale / std::log2(std::exp(1.0)));
}

void causalFaults(const Shape &s, std::vector<Fault> &all) {
  struct Anchor {
    Causal causal;
    const char *name;
  };
  for (Anchor a : {Anchor{Causal::None, "is not masked at all"}, {Causal::TopLeft, "is anchored top-left"},
                   {Causal::BottomRight, "is anchored bottom-right"}})
    if (a.causal != s.causal)
      all.push_back({.phase = "mask", .what = std::string("the causal triangle ") + a.name, .causal = a.causal});
  if (s.causal != Causal::None)
    for (int64_t by : {-1, 1})
      all.push_back({.phase = "mask", .what = fmt::format("the diagonal is off by {:+}", by), .keyOffset = by});
}

void maskFaults(const Inputs &in, std::vector<Fault> &all) {
  all.push_back({.phase = "mask", .what = "the mask is ignored", .ignoreMask = true});
  all.push_back({.phase = "mask", .what = "the mask's meaning is reversed", .invertMask = true});
  if (in.shape.mask == MaskKind::Additive)
    all.push_back({.phase = "mask", .what = "the mask is added before the scale", .maskScaled = true});
  for (double sentinel : {-1e4, -5e4, -1e3, -1e9})
    all.push_back({.phase = "mask", .what = fmt::format("masked scores get {:g}, which genuine scores can lie below", sentinel),
                   .sentinel = sentinel});
}

/// The tile sizes whose last, partial tile is as long as that of `n`: "16 or 32".
std::string tilesLeaving(int64_t keys, int64_t n) {
  std::string list;
  for (int64_t other : tiles)
    if (keys % other == keys % n)
      list += (list.empty() ? "" : " or ") + std::to_string(other);
  return list;
}

/// Rows that see no key must be 0; kernels that only lower masked scores weigh all keys alike there.
void emptyRowFaults(const Shape &s, std::vector<Fault> &all) {
  all.push_back({.phase = "mask", .what = "a row that sees no key gets the mean of all values", .causal = Causal::None,
                 .ignoreMask = true, .noSoftmax = true});
  if (s.causal != Causal::None)
    all.push_back({.phase = "mask", .what = "a row that sees no key is not masked at all", .causal = Causal::None,
                   .ignoreMask = true});
}

/// Keys and values of elsewhere: another batch or another head.
void placeFaults(const Shape &s, const Row &row, std::vector<Fault> &all) {
  constexpr int64_t fewPlaces = 8;
  if (s.Hkv > 1 && s.Hkv < s.H)
    all.push_back({.phase = "indexing", .what = "grouped heads read key-value head h % Hkv and not h / (H / Hkv)",
                   .tileHeads = true});
  for (int64_t b = 0; b < std::min(s.B, fewPlaces); ++b)
    if (b != row.b)
      all.push_back({.phase = "indexing", .what = fmt::format("keys and values are those of batch {}", b), .batch = b});
  for (int64_t h = 0; h < std::min(s.Hkv, fewPlaces); ++h)
    if (h != s.kvHead(row.h))
      all.push_back({.phase = "indexing", .what = fmt::format("keys and values are those of key-value head {}", h),
                     .kvHead = h});
  for (int64_t group : {2, 4, 8, 16, 32})
    if (s.D % group)
      all.push_back({.phase = "indexing",
                     .what = fmt::format("the last {} of {} dimensions, a partial group of {}, are left out of the scores",
                                         s.D % group, s.D, group),
                     .dropDims = group});
}

void tileFaults(const Shape &s, std::vector<Fault> &all) {
  for (int64_t n : tiles) {
    if (n < s.S) {
      all.push_back({.phase = "accumulate", .what = fmt::format("the accumulator of older tiles of {} keys is not rescaled", n),
                     .tile = n, .keepAccumulator = true});
      all.push_back({.phase = "sum", .what = fmt::format("the sum of older tiles of {} keys is not rescaled", n), .tile = n,
                     .keepSum = true});
      all.push_back({.phase = "accumulate",
                     .what = fmt::format("neither sum nor accumulator of older tiles of {} keys is rescaled", n), .tile = n,
                     .keepAccumulator = true, .keepSum = true});
      all.push_back({.phase = "sum", .what = fmt::format("a tile of {} keys is added to the sum before the older sum is rescaled", n),
                     .tile = n, .sumBeforeRescale = true});
      if (n == 1)
        continue; // a kernel that goes key by key has no tiles to lose
      all.push_back({.phase = "accumulate", .what = fmt::format("only the last tile of {} keys counts", n), .onlyTile = n});
      all.push_back({.phase = "indexing", .what = fmt::format("the first tile of {} keys is left out", n), .skipTile = n});
    }
    if (s.S % n) {
      if (std::ranges::none_of(all, [&](const Fault &f) { return f.dropTail && s.S % f.dropTail == s.S % n; }))
        all.push_back({.phase = "indexing",
                       .what = fmt::format("the last {} keys are left out, a partial tile of {}", s.S % n, tilesLeaving(s.S, n)),
                       .dropTail = n});
      all.push_back({.phase = "indexing",
                     .what = fmt::format("the last tile is padded to {} with {} keys of score 0 that are not masked away", n,
                                         n - s.S % n),
                     .padTo = n});
    }
  }
}

} // namespace

std::vector<Fault> knownFaults(const Inputs &in, const Row &row) {
  std::vector<Fault> all;
  if (factsOf(in, row).visible == 0) {
    emptyRowFaults(in.shape, all);
    return all;
  }
  scaleFaults(in.shape, all);
  causalFaults(in.shape, all);
  if (in.mask.tensor)
    maskFaults(in, all);
  placeFaults(in.shape, row, all);
  tileFaults(in.shape, all);
  for (double start : {0.0, -1e4, -5e4, -1e3, double(std::numeric_limits<float>::min())})
    all.push_back({.phase = "maximum", .what = fmt::format("the maximum starts at {:g} and not at minus infinity", start),
                   .startMaximum = start, .flush = true});
  all.push_back({.phase = "exponentials", .what = "all visible keys weigh the same, as if there were no softmax",
                 .noSoftmax = true});
  all.push_back({.phase = "normalise", .what = "the division by the sum is missing", .noNormalise = true});
  return all;
}

RowFacts factsOf(const Inputs &in, const Row &row) {
  RowFacts facts;
  std::vector<Entry> entries = entriesOf(in, row, Fault{.phase = "", .what = {}});
  bool any = false;
  for (size_t j = 0; j < entries.size(); ++j) {
    double score = entries[j].score;
    if (score == none)
      continue;
    if (!any)
      facts.firstVisible = int64_t(j), facts.smallest = facts.largest = score;
    any = true;
    ++facts.visible;
    facts.smallest = std::min(facts.smallest, score);
    facts.largest = std::max(facts.largest, score);
  }
  for (const Entry &entry : entries)
    if (entry.score != none)
      facts.sum += std::exp(entry.score - facts.largest);
  return facts;
}

} // namespace opsight::ops::attention
