// log, log2, log10, log1p, and the inverse hyperbolic functions, in float.
//
// x = 2ᵏ(1 + f), and ln(1 + f) = f + f²·polynomial(f).
#include "lower/native/mathematics/logarithm.h"

using namespace opsight::mathematics;

extern "C" float opsight_logf(float x) { return ofLogarithm(x, lnOf(x)); }

// log₂ e and log₁₀ e in two words, as the leading f is exact.
extern "C" float opsight_log2f(float x) {
  constexpr float high = 0x1.715476p+0f, low = 0x1.4ae0cp-26f;
  Parts parts = partsOf(x);
  float f = parts.fraction;
  float product = f * high, lost = fma(f, high, -product);
  float rest = fma(lnRest(f), high, fma(f, low, lost));
  return ofLogarithm(x, sumOf(parts.k, 1, product, rest));
}

extern "C" float opsight_log10f(float x) {
  constexpr float high = 0x1.bcb7b2p-2f, low = -0x1.5b235ep-27f, ofTwo = 0x1.344136p-2f, ofTwoLow = -0x1.ec10cp-27f;
  Parts parts = partsOf(x);
  float f = parts.fraction;
  float rest = fma(parts.k, ofTwoLow, fma(lnRest(f), high, f * low));
  return ofLogarithm(x, fma(parts.k, ofTwo, fma(f, high, rest)));
}

extern "C" float opsight_log1pf(float x) {
  float value = select(x == -1, -infinity, ln1pOf(x));
  value = select(x < infinity, value, x);
  value = select(x < -1, notANumber, value);
  return select(x == 0, x, value);
}

// asinh x = ln(1 + x + x²/(1 + √(1 + x²))); of large x, ln x + ln 2.
extern "C" float opsight_asinhf(float x) {
  float value = fabs(x);
  bool large = value > 0x1p60f;
  float square = value * value;
  float argument = select(large, value, value + square / (1 + sqrt(square + 1)));
  float result = ln1pOf(argument) + select(large, ln2, 0.0f);
  return copysign(select(value < infinity, result, value), x);
}

// acosh x = ln(1 + t + √(2t + t²)) with t = x - 1.
extern "C" float opsight_acoshf(float x) {
  bool large = x > 0x1p60f;
  float t = x - 1;
  float argument = select(large, x, t + sqrt(fma(t, t, t + t)));
  float result = ln1pOf(argument) + select(large, ln2, 0.0f);
  result = select(x < infinity, result, x);
  return select(x < 1, notANumber, result);
}

// atanh x = ln(1 + 2x/(1 - x))/2.
extern "C" float opsight_atanhf(float x) {
  float value = fabs(x);
  float argument = (value + value) / (1 - value);
  float result = 0.5f * ln1pOf(argument);
  result = select(value == 1, infinity, result);
  result = select(value > 1, notANumber, result);
  return copysign(result, x);
}
