// eˣ in pieces, for the functions that are built on it.
#pragma once
#include "lower/native/mathematics/common.h"

namespace opsight::mathematics {

constexpr float log2E = 0x1.715476p+0f, ln2High = 0x1.62e4p-1f, ln2Low = 0x1.7f7d1cp-20f;

/// x = k ln 2 + rest, |rest| ≤ ln 2 / 2, for |x| < 10⁴. ln 2 in two words, the first short enough for exact products.
struct Split {
  float rest;
  int k;
};
OPSIGHT_INLINE Split splitByLn2(float x) {
  Whole whole = nearest(x, log2E);
  float rest = fma(whole.value, -ln2High, x);
  return {fma(whole.value, -ln2Low, rest), whole.integer};
}

/// eˣ for |x| ≤ ln 2 / 2.
OPSIGHT_INLINE float expNear(float x) {
  return polynomial(x, 0x1p+0f, 0x1p+0f, 0x1.fffffcp-2f, 0x1.555482p-3f, 0x1.555826p-5f, 0x1.12449p-7f,
                    0x1.6afdecp-10f);
}

/// e^(x + correction) - 1 - x for |x| ≤ ln 2 / 2.
OPSIGHT_INLINE float expm1Beyond(float x, float correction) {
  float slope =
      polynomial(x, 0x1p-1f, 0x1.555554p-3f, 0x1.5554e6p-5f, 0x1.111398p-7f, 0x1.6d525ep-10f, 0x1.9c9e1cp-13f);
  return fma(x * x, slope, correction);
}

/// e^(x + correction)·2ᵃʰᵉᵃᵈ for |correction| ≪ 1 and -200 < x < 200.
OPSIGHT_INLINE float expScaled(float x, float correction, int ahead) {
  Split split = splitByLn2(x);
  return opsight_scalef(expNear(split.rest + correction), split.k + ahead);
}

} // namespace opsight::mathematics
