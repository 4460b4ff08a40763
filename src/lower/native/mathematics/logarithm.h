// ln x in pieces, for the functions that are built on it.
#pragma once
#include "lower/native/mathematics/common.h"

namespace opsight::mathematics {

/// x = 2ᵏ(1 + fraction), 1 + fraction in [1/√2, √2), for finite x > 0.
struct Parts {
  float fraction, k;
};
constexpr int rootHalf = 0x3f3504f3, exponentBits = int(0xff800000);

OPSIGHT_INLINE Parts partsOf(float x) {
  bool small = x < 0x1p-126f;
  int word = bits(select(small, x * 0x1p23f, x));
  int exponent = (word - rootHalf) & exponentBits;
  return {ofBits(word - exponent) - 1, float(exponent >> 23) + select(small, -23.0f, 0.0f)};
}

/// (ln(1 + f) - f)/f² + 1/2 over f, for 1 + f in [1/√2, √2).
OPSIGHT_INLINE float lnSlope(float f) {
  return polynomial(f, 0x1.555554p-2f, -0x1.000228p-2f, 0x1.99a036p-3f, -0x1.547238p-3f, 0x1.22d65p-3f, -0x1.0d80d8p-3f,
                    0x1.056f44p-3f, -0x1.38f94ep-4f);
}

/// ln(1 + f) = f + lnRest(f), for 1 + f in [1/√2, √2).
OPSIGHT_INLINE float lnRest(float f) { return f * f * fma(f, lnSlope(f), -0.5f); }

/// k·unit + f + rest, rounded once where it counts: what the leading terms' sum loses is added to the rest.
OPSIGHT_INLINE float sumOf(float k, float unit, float f, float rest) {
  float sum = fma(k, unit, f);
  return sum + (rest + (fma(k, unit, -sum) + f));
}

constexpr float ln2 = 0x1.62e43p-1f;

/// `regular` for finite x > 0, else what any logarithm gives: -∞ for 0, NaN below, ∞ and NaN themselves.
template <class T> OPSIGHT_INLINE T ofLogarithm(T x, T regular) {
  T value = select(x < T(infinity), regular, x);
  value = select(x == 0, -T(infinity), value);
  return select(x < 0, T(notANumber), value);
}

/// ln x for finite x > 0.
OPSIGHT_INLINE float lnOf(float x) {
  Parts parts = partsOf(x);
  return sumOf(parts.k, ln2, parts.fraction, lnRest(parts.fraction));
}

/// ln(1 + x) for finite x > -1: 1 + x is split without being rounded.
OPSIGHT_INLINE float ln1pOf(float x) {
  int exponent = (bits(x + 1) - rootHalf) & exponentBits;
  float unit = ofBits(0x40800000 - exponent) * 0.25f; // 2⁻ᵏ, subnormal for the largest x
  float f = fma(x, unit, unit - 1), lost = fma(x, unit, (unit - 1) - f);
  return sumOf(float(exponent >> 23), ln2, f, fma(lost, 1 - f, lnRest(f))); // 1/(1 + f) is nearly 1 - f
}

} // namespace opsight::mathematics
