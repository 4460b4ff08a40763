// Masks: patterns that public kernels got wrong, each a small predicate, in any shape that broadcasts to (B,H,L,S).
#include "base/text.h"
#include "operator/attention/attention.h"
#include "operator/attention/masks.h"
#include "operator/random.h"
#include <cmath>
#include <limits>

namespace opsight::ops::attention {
namespace {

struct Position {
  int64_t b, h, i, j;
};

/// Whether a pattern lets a query see a key. Random patterns hash the position, so that broadcasting needs no order.
using Sees = bool (*)(const Shape &shape, const Position &at, int64_t parameter, uint64_t seed);

double hashed(const Position &at, uint64_t seed) {
  uint64_t h = mix(seed ^ mix(uint64_t(at.j) ^ mix(uint64_t(at.i) ^ mix(uint64_t(at.h) ^ mix(uint64_t(at.b))))));
  return double(h >> 11) * 0x1p-53;
}

struct Pattern {
  std::string_view name;
  Sees sees;
};
const Pattern patterns[] = {
    {"random", [](const Shape &, const Position &at, int64_t, uint64_t seed) { return hashed(at, seed) < 0.7; }},
    {"keep-all", [](const Shape &, const Position &, int64_t, uint64_t) { return true; }},
    {"keep-none", [](const Shape &, const Position &, int64_t, uint64_t) { return false; }},
    // The first `parameter` keys are padding: whole tiles in front of the first visible key (S09).
    {"padding-left", [](const Shape &, const Position &at, int64_t n, uint64_t) { return at.j >= n; }},
    // Only the first `parameter` keys count (S24); per batch entry one fewer (S36).
    {"padding-right", [](const Shape &, const Position &at, int64_t n, uint64_t) { return at.j < n - at.b; }},
    // A window of `parameter` keys that ends at the query's own position (S09).
    {"sliding", [](const Shape &s, const Position &at, int64_t n, uint64_t) {
       int64_t last = at.i + s.S - s.L;
       return at.j <= last && at.j > last - n;
     }},
    // Sequences of `parameter` tokens packed one behind the other; the third of every four is left out (S27).
    {"blocks", [](const Shape &, const Position &at, int64_t n, uint64_t) {
       return at.i / n == at.j / n && (at.i / n) % 4 != 2;
     }},
    // Every third query sees nothing (S01).
    {"rows-empty", [](const Shape &, const Position &at, int64_t, uint64_t seed) {
       return at.i % 3 != 1 && hashed(at, seed) < 0.7;
     }},
    // The first `parameter` queries see nothing: a kernel that skips their tiles must still write zeros (S10).
    {"tile-empty", [](const Shape &, const Position &at, int64_t n, uint64_t) { return at.i >= n; }},
    {"last-only", [](const Shape &s, const Position &at, int64_t, uint64_t) { return at.j == s.S - 1; }},
};

/// What an additive mask holds where its pattern keeps a key, and where it drops it.
struct Values {
  std::string_view name;
  float (*kept)(const Position &at, uint64_t seed);
  float dropped;
};
float zero(const Position &, uint64_t) { return 0; }
const Values additive[] = {
    {"minus-infinity", zero, -std::numeric_limits<float>::infinity()},
    {"finite-sentinel", zero, -1e9f},                                          // S28
    {"zero-one", [](const Position &, uint64_t) { return 1.0f; }, 0.0f},        // S02: 0 drops nothing
    {"bias", [](const Position &at, uint64_t seed) { return float(4 * hashed(at, seed) - 2); }, -1.5f},
    {"alibi", [](const Position &at, uint64_t) { return -0.125f * float(std::abs(at.i - at.j)); }, -4.0f},
};

template <class Table> const auto &named(const Table &table, const std::string &name) {
  for (const auto &entry : table)
    if (entry.name == name)
      return entry;
  return table[0];
}

std::string trait(const Case &c, const std::string &name, const std::string &otherwise) {
  auto found = c.traits.find(name);
  return found == c.traits.end() ? otherwise : found->second;
}

} // namespace

std::vector<int64_t> maskShape(const Case &c) {
  std::vector<int64_t> shape;
  for (const std::string &extent : split(trait(c, "mask_shape", "B,H,L,S"), ','))
    shape.push_back(extent == "1" ? 1 : c.symbols.at(extent));
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  return shape;
}

Tensor makeMask(const Case &c, const Shape &shape, uint64_t seed) {
  Tensor mask{shape.mask == MaskKind::Bool ? ElementType::UInt8 : ElementType::Float32, maskShape(c), {}};
  mask.bytes.resize(mask.count() * sizeOf(mask.type));
  const Pattern &pattern = named(patterns, trait(c, "mask", "random"));
  const Values &values = named(additive, trait(c, "mask_values", "minus-infinity"));
  int64_t parameter = std::stoll(trait(c, "mask_parameter", "0"));
  int64_t n = 0;
  Position at{};
  for (at.b = 0; at.b < mask.shape[0]; ++at.b)
    for (at.h = 0; at.h < mask.shape[1]; ++at.h)
      for (at.i = 0; at.i < mask.shape[2]; ++at.i)
        for (at.j = 0; at.j < mask.shape[3]; ++at.j, ++n) {
          bool sees = pattern.sees(shape, at, parameter, seed);
          if (shape.mask == MaskKind::Bool)
            mask.as<uint8_t>()[n] = sees;
          else
            mask.as<float>()[n] = sees ? values.kept(at, seed) : values.dropped;
        }
  return mask;
}

MaskView::MaskView(const Tensor &mask) : tensor(&mask) {
  auto stride = [&](size_t dim) {
    int64_t step = 1;
    for (size_t later = dim + 1; later < 4; ++later)
      step *= mask.shape[later];
    return mask.shape[dim] == 1 ? 0 : step;
  };
  strideB = stride(0), strideH = stride(1), strideL = stride(2), strideS = stride(3);
}

float MaskView::at(int64_t b, int64_t h, int64_t i, int64_t j) const {
  int64_t n = b * strideB + h * strideH + i * strideL + j * strideS;
  if (tensor->type == ElementType::UInt8)
    return tensor->as<uint8_t>()[n] ? 0.0f : -std::numeric_limits<float>::infinity();
  return tensor->as<float>()[n];
}

Tensor broadcastMask(const Tensor &mask, const std::vector<int64_t> &shape) {
  Tensor wide{mask.type, shape, {}};
  size_t size = sizeOf(mask.type);
  wide.bytes.resize(wide.count() * size);
  MaskView view(mask);
  int64_t n = 0;
  for (int64_t b = 0; b < shape[0]; ++b)
    for (int64_t h = 0; h < shape[1]; ++h)
      for (int64_t i = 0; i < shape[2]; ++i)
        for (int64_t j = 0; j < shape[3]; ++j, ++n) {
          int64_t from = b * view.strideB + h * view.strideH + i * view.strideL + j * view.strideS;
          std::memcpy(&wide.bytes[n * size], &mask.bytes[from * size], size);
        }
  return wide;
}

} // namespace opsight::ops::attention
