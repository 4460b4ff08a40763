// NaN is told by its bits: this code must stay right even when someone builds it with -ffast-math (V03).
#include "judge/metric.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
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

double elementError(double got, double want, double magnitude) {
  if (isNan(got) || isNan(want))
    return isNan(got) && isNan(want) ? 0 : infinite;
  if (!isFinite(got) || !isFinite(want))
    return std::bit_cast<uint64_t>(got) == std::bit_cast<uint64_t>(want) ? 0 : infinite;
  return std::abs(got - want) / std::max(magnitude, std::abs(want));
}

namespace {

/// Whether an element lies in a word that still holds the poison. Of elements narrower than that word, the whole word must:
/// one byte has its value by chance once in 256 times.
bool untouched(const ops::Tensor &got, size_t n, uint32_t poison) {
  size_t size = ops::sizeOf(got.type), first = n * size / sizeof poison * sizeof poison;
  size_t last = std::min(std::max(first + sizeof poison, (n + 1) * size), got.bytes.size());
  for (size_t at = first; at < last; ++at)
    if (got.bytes[at] != std::byte(poison >> (8 * (at % sizeof poison)) & 0xFF))
      return false;
  return true;
}

bool sameBits(const ops::Tensor &left, size_t l, const ops::Tensor &right, size_t r) {
  size_t size = ops::sizeOf(left.type);
  return std::memcmp(&left.bytes[l * size], &right.bytes[r * size], size) == 0;
}

/// One element's error. Whole numbers that differ are at least 1 apart, however little a double shows of it.
double errorOf(const ops::Tensor &got, const Wanted &want, size_t n) {
  if (!want.exact)
    return elementError(got.valueAt(int64_t(n)), want.values[n], want.magnitudeAt(n));
  return sameBits(got, n, *want.exact, n) ? 0 : std::max(1.0, std::abs(got.valueAt(int64_t(n)) - want.values[n]));
}

} // namespace

Wanted wantedOf(const ops::Problem &problem, const std::string &output) {
  auto exact = problem.exact.find(output);
  auto magnitudes = problem.magnitudes.find(output);
  return {problem.outputs.at(output), exact == problem.exact.end() ? nullptr : &exact->second,
          magnitudes == problem.magnitudes.end() ? std::span<const double>() : magnitudes->second};
}

int64_t unwrittenIn(const ops::Tensor &got, uint32_t poison) {
  int64_t unwritten = 0;
  for (int64_t n = 0; n < got.count(); ++n)
    unwritten += untouched(got, size_t(n), poison);
  return unwritten;
}

Comparison compare(const ops::Tensor &got, const Wanted &want, std::optional<uint32_t> poison, double spreadFrom) {
  Comparison result;
  int64_t finite = 0, over = 0;
  double squares = 0, low = infinite, high = -infinite;
  bool same = true;
  for (size_t n = 0; n < want.values.size(); ++n) {
    double error = errorOf(got, want, n);
    result.unequal += want.exact && error > 0;
    // A whole number may well be the poison; where it is right, the other poison shows whether it was written.
    bool unwritten = poison && untouched(got, n, *poison) && !(want.exact && error == 0);
    if (unwritten)
      error = infinite;
    result.unwritten += unwritten;
    result.notFinite += !unwritten && !isFinite(error);
    same = same && sameBits(got, n, got, 0);
    if (isFinite(error)) {
      squares += error * error;
      over += error > spreadFrom;
      ++finite;
    }
    if (isFinite(want.values[n]))
      low = std::min(low, want.values[n]), high = std::max(high, want.values[n]);
    if (result.worst < 0 || error > result.error) {
      result.worst = int64_t(n);
      result.error = error;
      result.worstUnwritten = unwritten;
    }
  }
  result.rms = finite ? std::sqrt(squares / double(finite)) : 0;
  result.spread = finite ? double(over) / double(finite) : 0;
  double magnitude = std::max({1.0, std::abs(low), std::abs(high)});
  result.constant = same && want.values.size() > 1 && !result.unwritten && !result.notFinite && high - low > variation * magnitude;
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
