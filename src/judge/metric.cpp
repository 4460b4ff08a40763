// NaN is told by its bits: this code must stay right even when someone builds it with -ffast-math (V03).
#include "judge/metric.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace opsight::judge {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

uint64_t exponentAndFraction(double x) { return std::bit_cast<uint64_t>(x) & ~(1ull << 63); }
bool isNan(double x) { return exponentAndFraction(x) > 0x7FF0000000000000ull; }
bool isFinite(double x) { return exponentAndFraction(x) < 0x7FF0000000000000ull; }

/// Below this share of its largest magnitude a reference counts as constant itself.
constexpr double variation = 1e-6;

} // namespace

double elementError(double got, double want) {
  if (isNan(got) || isNan(want))
    return isNan(got) && isNan(want) ? 0 : infinite;
  if (!isFinite(got) || !isFinite(want))
    return std::bit_cast<uint64_t>(got) == std::bit_cast<uint64_t>(want) ? 0 : infinite;
  return std::abs(got - want) / std::max(1.0, std::abs(want));
}

Comparison compare(std::span<const float> got, std::span<const double> want, uint32_t poison, double spreadFrom) {
  Comparison result;
  int64_t finite = 0, over = 0;
  double squares = 0, low = infinite, high = -infinite;
  bool same = true;
  for (size_t n = 0; n < want.size(); ++n) {
    uint32_t bits = std::bit_cast<uint32_t>(got[n]);
    double error = elementError(double(got[n]), want[n]);
    bool untouched = bits == poison;
    if (untouched)
      error = infinite;
    result.unwritten += untouched;
    result.notFinite += !untouched && !isFinite(error);
    same = same && bits == std::bit_cast<uint32_t>(got[0]);
    if (isFinite(error)) {
      squares += error * error;
      over += error > spreadFrom;
      ++finite;
    }
    if (isFinite(want[n]))
      low = std::min(low, want[n]), high = std::max(high, want[n]);
    if (result.worst < 0 || error > result.error) {
      result.worst = int64_t(n);
      result.error = error;
    }
  }
  result.rms = finite ? std::sqrt(squares / double(finite)) : 0;
  result.spread = finite ? double(over) / double(finite) : 0;
  double magnitude = std::max({1.0, std::abs(low), std::abs(high)});
  result.constant = same && want.size() > 1 && !result.unwritten && !result.notFinite && high - low > variation * magnitude;
  return result;
}

std::vector<int64_t> indexOf(int64_t at, const std::vector<int64_t> &shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = shape[dim] ? at % shape[dim] : 0;
    at = shape[dim] ? at / shape[dim] : 0;
  }
  return index;
}

} // namespace opsight::judge
