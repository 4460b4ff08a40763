// The error function's family, in float.
//
// Largest errors measured, in ulp. Of every float of magnitude 10⁻³ to 4.1: erf 1.09. Of every 997th float: erfc 3.4,
// normcdf 3.9, erfcx 2.3.
#include "lower/native/mathematics/exponential.h"

using namespace opsight::mathematics;

/// erf(x) for |x| ≤ 0.92.
OPSIGHT_INLINE float erfNear(float x) {
  return fma(x,
             polynomial(x * x, 0x1.06eba8p-3f, -0x1.812742p-2f, 0x1.ce2decp-4f, -0x1.b80cdap-6f, 0x1.54bb3ap-8f,
                        -0x1.a9e392p-11f, 0x1.5bd594p-14f),
             x);
}

// Beyond 0.92 it is 1 - e^-g(x) with a polynomial for g = -ln erfc, which is 1 from 3.92 on.
extern "C" float opsight_erff(float x) {
  float value = fabs(x);
  float g = polynomial(atMost(value, 4.0f), -0x1.70d5b8p-13f, 0x1.212846p+0f, 0x1.444476p-1f, 0x1.bb9244p-4f,
                       -0x1.9bb52p-6f, 0x1.11989cp-8f, -0x1.c86bb8p-12f, 0x1.63348cp-16f);
  return select(value < 0.92f, erfNear(x), copysign(1 - expScaled(-g, 0, 0), x));
}

namespace {
/// e^(x²) erfc(x) for x ≥ 0: (1 + 2x) times it is a smooth function of (x - 4)/(x + 4).
OPSIGHT_INLINE float scaledErfc(float x) {
  float bounded = atMost(x, 0x1p60f);
  float sum = bounded + 4, q = (bounded - 4) / sum;
  // The quotient's rounding error would count: one step of refinement.
  q = fma(fma(-q, sum, bounded - 4), 1 / sum, q);
  float p = polynomial(q, 0x1.3ba592p+0f, -0x1.1df1a2p-3f, 0x1.f7e2cep-7f, 0x1.16eb06p-4f, -0x1.9dc092p-4f,
                       0x1.7ffadep-4f, -0x1.101c16p-4f, 0x1.302b06p-5f, -0x1.065f12p-6f, 0x1.4dbc28p-8f,
                       -0x1.d761a2p-11f, -0x1.083deep-12f, 0x1.72c902p-13f);
  float base = fma(2.0f, bounded, 1.0f), result = p / base;
  return fma(fma(-result, base, p), 1 / base, result);
}

/// erfc(x) where |x|² = high + low. Below 1/2 the polynomial's sum would round more than 1 - erf(x) does.
OPSIGHT_INLINE float erfcOf(float x, float high, float low) {
  Split split = splitByLn2(-high);
  float tail = opsight_scalef(expNear(split.rest - low) * scaledErfc(fabs(x)), split.k);
  return select(fabs(x) < 0.5f, 1 - erfNear(x), select(x < 0, 2 - tail, tail));
}
} // namespace

extern "C" float opsight_erfcf(float x) {
  float value = atMost(fabs(x), 10.5f), high = value * value;
  return erfcOf(copysign(value, x), high, fma(value, value, -high));
}

// Φ(x) = erfc(-x/√2)/2, with the exponent -x²/2 straight from x.
extern "C" float opsight_normcdff(float x) {
  float value = atMost(fabs(x), 14.75f), half = value * 0.5f, high = value * half;
  float argument = copysign(value * 0x1.6a09e6p-1f, -x);
  return 0.5f * erfcOf(argument, high, fma(value, half, -high));
}

// Of negative x: 2 e^(x²) - erfcx(-x).
extern "C" float opsight_erfcxf(float x) {
  constexpr float ofLarge = 0x1.20dd76p-1f; // 1/√π: x·erfcx(x) for large x
  float positive = select(x > 0x1p60f, ofLarge / x, scaledErfc(fabs(x)));
  float value = atMost(fabs(x), 10.0f), high = value * value;
  float power = expScaled(high, fma(value, value, -high), 1);
  float near = (1 - erfNear(x)) * (0.5f * power);
  return select(fabs(x) < 0.5f, near, select(x < 0, power - positive, positive));
}
