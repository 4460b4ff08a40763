// log, log2, log10, log1p, and the inverse hyperbolic functions, in float.
//
// x = 2ᵏ(1 + f), and ln(1 + f) = f + f²·polynomial(f).
//
// Largest errors measured, in ulp. Of every float of 0.6 to 1.9, where results are small: log 0.93; of 0.3 to 1.9: log2
// 0.78; of magnitude 0.2 to 1: log1p 0.93. Of every 997th float, all magnitudes: log 0.78, log2 0.68, log10 0.85, log1p
// 0.85, asinh 1.58, acosh 1.65, atanh 1.88.
#include "lower/native/mathematics/logarithm.h"

using namespace opsight::mathematics;

extern "C" float opsight_logf(float x) { return ofLogarithm(x, lnOf(x)); }

// ln(1 + f) = sum + rest, the sum being f - f²/2: only the product with log₂ e, in two words, and the end round.
extern "C" float opsight_log2f(float x) {
  constexpr float high = 0x1.715476p+0f, low = 0x1.4ae0cp-26f;
  Parts parts = partsOf(x);
  float f = parts.fraction, square = f * f;
  float sum = fma(square, -0.5f, f), rest = fma(square, -0.5f, f - sum);
  rest = fma(-0.5f, fma(f, f, -square), fma(f * square, lnSlope(f), rest));
  float product = sum * high, lost = fma(sum, high, -product);
  return ofLogarithm(x, sumOf(parts.k, 1, product, fma(rest, high, fma(sum, low, lost))));
}

// log₁₀ e in two words, as the leading f is exact.
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
