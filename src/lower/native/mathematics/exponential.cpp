// exp, exp2, exp10, expm1, and the hyperbolic functions, in float.
//
// x = k ln 2 + r by two-word ln 2, a polynomial for eʳ, and 2ᵏ by integer arithmetic. Beyond the clamps results are 0
// or infinite by scaling alone; a NaN passes through all of it.
//
// Largest errors measured, in ulp. Of every float of the magnitudes where results are neither constant nor x itself:
// exp 0.90 (10⁻⁹ to 106), exp2 0.88 (10⁻⁹ to 152), expm1 0.91 (10⁻⁴ to 90), tanh 1.41 (10⁻⁴ to 10). Of every 997th
// float: exp10 0.85, sinh 1.53, cosh 1.28.
#include "lower/native/mathematics/exponential.h"

using namespace opsight::mathematics;

extern "C" float opsight_expf(float x) { return expScaled(clamp(x, -105.0f, 90.0f), 0, 0); }

extern "C" float opsight_exp2f(float x) {
  Whole whole = nearest(clamp(x, -152.0f, 130.0f), 1.0f);
  float rest = clamp(x, -152.0f, 130.0f) - whole.value;
  float power = polynomial(rest, 0x1p+0f, 0x1.62e432p-1f, 0x1.ebfbe6p-3f, 0x1.c6ada8p-5f, 0x1.3b21dep-7f,
                           0x1.5fbd4p-10f, 0x1.4babd4p-13f);
  return opsight_scalef(power, whole.integer);
}

// x less k log₁₀ 2, and a polynomial for 10ʳ.
extern "C" float opsight_exp10f(float x) {
  x = clamp(x, -46.0f, 39.0f);
  Whole whole = nearest(x, 0x1.a934fp+1f);
  float rest = fma(whole.value, -0x1.344p-2f, x);
  rest = fma(whole.value, -0x1.3509f8p-18f, rest);
  float power = polynomial(rest, 0x1p+0f, 0x1.26bb1cp+1f, 0x1.53524ep+1f, 0x1.04705cp+1f, 0x1.2bd504p+0f,
                           0x1.13e606p-1f, 0x1.ab6c7ap-3f, 0x1.69a4fep-4f);
  return opsight_scalef(power, whole.integer);
}

// 2ᵏ(eʳ - 1) + (2ᵏ - 1), halved until the end, so that 2ᵏ is finite. r's rounding error is carried on.
extern "C" float opsight_expm1f(float x) {
  Whole whole = nearest(clamp(x, -18.0f, 89.0f), log2E);
  float first = fma(whole.value, -ln2High, clamp(x, -18.0f, 89.0f));
  float rest = fma(whole.value, -ln2Low, first);
  float lost = fma(whole.value, -ln2Low, first - rest);
  float half = ofBits((whole.integer + 126) << 23);
  // Leading terms first, with what their sum loses: it cancels where eˣ is near 3/2.
  float least = half - 0.5f, sum = fma(rest, half, least);
  float beyond = fma(rest, half, least - sum) + ((half - least) - 0.5f);
  float result = sum + fma(expm1Beyond(rest, lost), half, beyond);
  return select(fabs(x) < 0x1p-25f, x, result + result);
}

// With h = eˣ/2: sinh x = h - 1/(4h), cosh x = h + 1/(4h). Below 1, where sinh would cancel, a polynomial.
extern "C" float opsight_sinhf(float x) {
  float value = fabs(x), square = value * value;
  float near =
      fma(value * square, polynomial(square, 0x1.555556p-3f, 0x1.1110ep-7f, 0x1.a022bcp-13f, 0x1.756c1ep-19f), value);
  float half = expScaled(atMost(value, 91.0f), 0, -1);
  return copysign(select(value < 1, near, half - 0.25f / half), x);
}

extern "C" float opsight_coshf(float x) {
  float half = expScaled(atMost(fabs(x), 91.0f), 0, -1);
  return half + 0.25f / half;
}

// 1 - 2/(e²ˣ + 1), which is 1 from 9.02 on; below 0.6, where that would cancel, a polynomial.
extern "C" float opsight_tanhf(float x) {
  float value = fabs(x), square = value * value;
  float near =
      fma(value * square,
          polynomial(square, -0x1.555536p-2f, 0x1.1107d2p-3f, -0x1.b85328p-5f, 0x1.52bfc8p-6f, -0x1.78a444p-8f), value);
  float bounded = atMost(value, 9.25f);
  Split split = splitByLn2(bounded + bounded);
  float power = expNear(split.rest) * ofBits((split.k + 127) << 23);
  return copysign(select(value < 0.6f, near, 1 - 2 / (power + 1)), x);
}
