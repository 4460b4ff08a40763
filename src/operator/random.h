// Seeded numbers that are the same on every machine, so that a case and a seed always name the same data.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

namespace opsight::ops {

/// A well-mixed 64-bit hash (the finaliser of SplitMix64, Steele et al. 2014).
inline uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

class Random {
public:
  explicit Random(uint64_t seed) : state(mix(seed)) {}
  uint64_t bits() { return mix(state += 0x9E3779B97F4A7C15ull); }
  /// In [0, 1).
  double uniform() { return double(bits() >> 11) * 0x1p-53; }
  /// In [0, n).
  int64_t below(int64_t n) { return int64_t(bits() % uint64_t(n)); }
  /// Standard normal, by Box and Muller.
  double normal() {
    if (spareReady) {
      spareReady = false;
      return spare;
    }
    double radius = std::sqrt(-2 * std::log(1 - uniform())), angle = 2 * std::numbers::pi * uniform();
    spare = radius * std::sin(angle);
    spareReady = true;
    return radius * std::cos(angle);
  }

private:
  uint64_t state;
  double spare = 0;
  bool spareReady = false;
};

} // namespace opsight::ops
