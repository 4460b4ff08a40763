// Query, key and value of every distribution: the user's six, and those that show one known fault each.
#include "operator/attention/attention.h"
#include "operator/attention/masks.h"
#include "operator/random.h"
#include <algorithm>
#include <cmath>

namespace opsight::ops::attention {
namespace {

struct Data {
  const Shape &shape;
  const Case &c;
  Random random;
  std::span<float> q, k, v;
  MaskView mask{};

  /// Calls fill(head, row, d) for every element of a (heads, rows, width) tensor.
  template <class Fill> static void each(std::span<float> out, int64_t rows, int64_t width, Fill fill) {
    for (size_t n = 0; n < out.size(); ++n)
      out[n] = float(fill(int64_t(n) / (rows * width), int64_t(n) / width % rows, int64_t(n) % width));
  }
  template <class Fill> void query(Fill fill) { each(q, shape.L, shape.D, fill); }
  template <class Fill> void key(Fill fill) { each(k, shape.S, shape.D, fill); }
  template <class Fill> void value(Fill fill) { each(v, shape.S, shape.Dv, fill); }

  double normal() { return random.normal(); }
  /// On a grid of 1/16 in [-limit, limit]: sums of products stay exact in single precision (pitfalls 14).
  double grid(double limit) {
    double steps = 32 * limit + 1;
    return std::floor(random.uniform() * steps) / 16 - limit;
  }
  void normals(double queryKey, double valueScale) {
    query([&](auto...) { return queryKey * normal(); });
    key([&](auto...) { return queryKey * normal(); });
    value([&](auto...) { return valueScale * normal(); });
  }
};

void normal(Data &d) { d.normals(1, 1); }
/// Wider operands; on the grid, so that a right kernel's error stays that of its exponentials and sums.
void scaled(Data &d) {
  d.query([&](auto...) { return d.grid(2.5); });
  d.key([&](auto...) { return d.grid(2.5); });
  d.value([&](auto...) { return 2 * d.normal(); });
}
void shifted(Data &d) {
  d.query([&](auto...) { return 0.5 + d.normal(); });
  d.key([&](auto...) { return 0.5 + d.normal(); });
  d.value([&](auto...) { return 3 + d.normal(); });
}

/// Each query points at one key that it sees: all weight lies on it. What the others add is too little to matter even where it is
/// summed to a weight of 1 term by term, so that each term is rounded away.
void peaked(Data &d) {
  d.normals(1, 1);
  d.key([&](auto...) { return d.grid(2); });
  const Shape &s = d.shape;
  if (s.S == 0)
    return;
  for (int64_t row = 0; row < s.rows(); ++row) {
    auto [b, h, i] = rowAt(s, row);
    int64_t kv = s.kvHead(h), seen = std::max<int64_t>(1, s.visibleKeys(i)), j = d.random.below(seen);
    for (int64_t tries = 0; d.mask.tensor && std::isinf(d.mask.at(b, h, i, j)) && tries < seen; ++tries)
      j = (j + 1) % seen;
    for (int64_t e = 0; e < s.D; ++e)
      d.q[row * s.D + e] = 5 * d.k[((b * s.Hkv + kv) * s.S + j) * s.D + e];
  }
}

void longTailed(Data &d) {
  auto tail = [&] { return d.normal() * std::exp(0.5 * std::min(d.normal(), 2.5)); };
  d.query([&](auto...) { return 0.5 * tail(); });
  d.key([&](auto...) { return 0.5 * tail(); });
  d.value([&](auto...) { return tail(); });
}

void constant(Data &d) {
  double q = d.grid(2), k = d.grid(2);
  d.query([&](auto...) { return q; });
  d.key([&](auto...) { return k; });
  d.value([&](auto...) { return d.normal(); });
}

/// Scores far beyond what exp can hold in float (88), and yet exact: a kernel has no excuse.
void exactLarge(Data &d) {
  d.query([&](auto...) { return d.grid(12); });
  d.key([&](auto...) { return d.grid(12); });
  d.value([&](auto...) { return d.normal(); });
}

/// Every score near -100 and exact: a maximum that starts at 0 leaves a sum of zeros (N05).
void allNegative(Data &d) {
  double width = double(d.shape.D);
  double step = std::max(1.0, std::round(16 * std::sqrt(110 / (width * d.shape.scale)))) / 16;
  d.query([&](auto...) { return step; });
  d.key([&](auto, auto, int64_t e) { return e == 0 ? -step + d.grid(0.5) : -step; });
  d.value([&](auto...) { return d.normal(); });
}

/// Every score of an even row lies near -56 and every one of an odd row near 56, all exact.
void seeSaw(Data &d) {
  double root = std::round(16 * std::sqrt(56 / std::abs(d.shape.scale))) / 16;
  d.query([&](auto, int64_t i, int64_t e) { return e > 0 ? d.grid(1) : i % 2 ? root : -root; });
  d.key([&](auto, auto, int64_t e) { return e > 0 ? d.grid(1) : root; });
  d.value([&](auto...) { return d.normal(); });
}

/// Scores that change by `slope` a key, so that each tile's maximum differs from the last one's.
void sloped(Data &d, double slope) {
  double first = std::max(1.0, std::round(16 / d.shape.scale) / 16);
  d.query([&](auto, auto, int64_t e) { return e == 0 ? first : d.grid(1); });
  d.key([&](auto, int64_t j, int64_t e) { return e == 0 ? slope * double(j) : d.grid(1); });
  d.value([&](auto...) { return d.normal(); });
}
void rising(Data &d) { sloped(d, 1.0 / 32); }
void falling(Data &d) { sloped(d, -1.0 / 32); }
void steep(Data &d) { sloped(d, 1); }

/// The largest score is the last key's.
void lateMaximum(Data &d) {
  d.normals(1, 1);
  const Shape &s = d.shape;
  d.key([&](auto, int64_t j, auto) { return j == s.S - 1 ? 2.0 : 0.5 * d.normal(); });
  d.query([&](auto...) { return std::abs(d.grid(1)) + 0.0625; });
}

void outliers(Data &d) {
  d.normals(0.5, 1);
  for (std::span<float> t : {d.q, d.k})
    for (size_t n = 0; n < t.size(); n += 97)
      t[n] *= 8;
  for (size_t n = 0; n < d.v.size(); n += 53)
    d.v[n] *= 6;
}

/// q_i = k_i = 16 e_i: the output is nearly v_i, whatever averages would give (S35).
void identity(Data &d) {
  d.query([&](auto, int64_t i, int64_t e) { return i % d.shape.D == e ? 16 : 0; });
  d.key([&](auto, int64_t j, int64_t e) { return j % d.shape.D == e ? 16 : 0; });
  d.value([&](auto...) { return d.normal(); });
}

/// Equal weights on values of 1: the answer is exactly 1, however long the row (S15, S34).
void ones(Data &d) {
  d.query([](auto...) { return 0; });
  d.key([&](auto...) { return d.normal(); });
  d.value([](auto...) { return 1; });
}

/// Equal weights on the key's number: the answer tells which keys were seen (S04, S09).
void keyIndex(Data &d) {
  d.query([](auto...) { return 0; });
  d.key([&](auto...) { return d.normal(); });
  d.value([](auto, int64_t j, auto) { return double(j + 1); });
}

/// The value tells which key-value head was read (S06).
void headIndex(Data &d) {
  int64_t heads = d.shape.Hkv;
  d.query([&](auto...) { return d.normal(); });
  d.key([&](auto...) { return d.normal(); });
  d.value([&](int64_t bh, auto...) { return double(bh % heads + 1) + 0.1 * d.normal(); });
}

/// Genuine scores below every finite sentinel: -20000 against -60000 (S08).
void lowScores(Data &d) {
  double q = -1024, k = 64 / (d.shape.scale * double(d.shape.D));
  d.query([&](auto...) { return q; });
  d.key([&](auto...) { return k; });
  d.value([&](auto...) { return d.normal(); });
}

/// Values beyond the visible keys are 1000: one leaked key shows (S18, S24).
void thousandBeyond(Data &d) {
  d.normals(1, 1);
  auto found = d.c.traits.find("mask_parameter");
  int64_t visible = found == d.c.traits.end() ? d.shape.S : std::stoll(found->second);
  d.value([&](auto, int64_t j, auto) { return j < visible - d.shape.B ? d.normal() : j < visible ? 2.0 : 1000.0; });
}

/// Ill-conditioned by nature (pitfalls 14): float cannot hold such scores to better than 1e-5.
void largeNormal(Data &d) {
  d.normals(1, 1);
  for (float &x : d.q)
    x *= 30;
}
void offsetThousand(Data &d) {
  d.normals(1, 1);
  double root = std::sqrt(1000 / d.shape.scale);
  for (auto [t, width] : {std::pair{d.q, d.shape.D}, std::pair{d.k, d.shape.D}})
    for (size_t n = 0; n < t.size(); n += size_t(width))
      t[n] = float(root);
}

struct Distribution {
  std::string_view name;
  void (*fill)(Data &);
  bool user; // may be named in a port file
};
const Distribution distributions[] = {
    {"normal", normal, true},          {"scaled", scaled, true},
    {"shifted", shifted, true},        {"peaked", peaked, true},
    {"long-tailed", longTailed, true}, {"constant", constant, true},
    {"exact-large", exactLarge, false}, {"all-negative", allNegative, false},
    {"rising", rising, false},         {"falling", falling, false},
    {"see-saw", seeSaw, false},        {"steep", steep, false},           {"late-maximum", lateMaximum, false},
    {"outliers", outliers, false},     {"identity", identity, false},
    {"ones", ones, false},             {"key-index", keyIndex, false},
    {"head-index", headIndex, false},  {"low-scores", lowScores, false},
    {"thousand-beyond", thousandBeyond, false}, {"large-normal", largeNormal, false},
    {"offset-thousand", offsetThousand, false},
};

} // namespace

bool knownDistribution(const std::string &name) {
  return std::ranges::any_of(distributions, [&](const Distribution &d) { return d.name == name; });
}

std::vector<std::string> userDistributions() {
  std::vector<std::string> names;
  for (const Distribution &d : distributions)
    if (d.user)
      names.emplace_back(d.name);
  return names;
}

std::map<std::string, Tensor> makeInputs(const Case &c, uint64_t seed) {
  Shape s = shapeOf(c);
  std::map<std::string, Tensor> inputs;
  Tensor &q = inputs["query"] = floatsOf({s.B, s.H, s.L, s.D});
  Tensor &k = inputs["key"] = floatsOf({s.B, s.Hkv, s.S, s.D});
  Tensor &v = inputs["value"] = floatsOf({s.B, s.Hkv, s.S, s.Dv});
  Data data{s, c, Random(seed), q.as<float>(), k.as<float>(), v.as<float>()};
  if (s.mask != MaskKind::None)
    data.mask = MaskView(inputs["mask"] = makeMask(c, s, seed));
  for (const Distribution &d : distributions)
    if (d.name == c.distribution)
      d.fill(data);
  return inputs;
}

} // namespace opsight::ops::attention
