// asin, acos, atan, atan2, in float.
//
// Largest errors measured, in ulp, of every 997th float: asin 1.29, acos 1.03, atan 1.19; atan2 within 3 on random
// pairs.
#include "lower/native/mathematics/common.h"

using namespace opsight::mathematics;

constexpr float piHigh = 0x1.921fb6p+1f, piLow = -0x1.777a5cp-24f;

/// asin(x) = x + x·asinRest(x²), for |x| ≤ 9/16.
OPSIGHT_INLINE float asinRest(float square) {
  return square * polynomial(square, 0x1.555524p-3f, 0x1.3349e8p-4f, 0x1.6a43fcp-5f, 0x1.172fp-5f, 0x1.ac0582p-8f,
                             0x1.86f496p-5f);
}

// Above 9/16: asin(x) = π/2 - 2 asin(√((1 - x)/2)), where 1 - x is exact; at 1/2 the difference would cancel more.
extern "C" float opsight_asinf(float x) {
  float value = fabs(x);
  bool far = value > 0.5625f;
  float square = select(far, fma(value, -0.5f, 0.5f), value * value);
  float root = select(far, sqrt(square), value);
  float arc = fma(root, asinRest(square), root);
  return copysign(select(far, fma(-2.0f, arc, piLow / 2) + piHigh / 2, arc), x);
}

extern "C" float opsight_acosf(float x) {
  float value = fabs(x);
  bool far = value > 0.5625f;
  float square = select(far, fma(value, -0.5f, 0.5f), value * value);
  float root = select(far, sqrt(square), value);
  float arc = fma(root, asinRest(square), root);
  float near = piHigh / 2 - (copysign(arc, x) - piLow / 2);
  float doubled = arc + arc;
  float beyond = select(x < 0, piHigh - (doubled - piLow), doubled);
  return select(far, beyond, near);
}

/// atan(x), for 0 ≤ x ≤ 1.
OPSIGHT_INLINE float atanNear(float x) {
  float square = x * x;
  return fma(x * square,
             polynomial(square, -0x1.55553ep-2f, 0x1.9991eap-3f, -0x1.2420f2p-3f, 0x1.c0921ap-4f, -0x1.581d5ap-4f,
                        0x1.da790ep-5f, -0x1.fe2c98p-6f, 0x1.64f0c4p-7f, -0x1.d4e1f6p-10f),
             x);
}

extern "C" float opsight_atanf(float x) {
  float value = fabs(x);
  bool far = value > 1;
  float arc = atanNear(select(far, 1 / value, value));
  return copysign(select(far, piHigh / 2 - (arc - piLow / 2), arc), x);
}

extern "C" float opsight_atan2f(float y, float x) {
  float rise = fabs(y), run = fabs(x);
  bool steep = rise > run;
  float less = select(steep, run, rise), more = select(steep, rise, run);
  float ratio = less / more;
  ratio = select(less == more, 1.0f, ratio); // of two infinities; of two zeros it is
  ratio = select(more == 0, 0.0f, ratio);
  float arc = atanNear(ratio);
  arc = select(steep, piHigh / 2 - (arc - piLow / 2), arc);
  arc = select(bits(x) < 0, piHigh - (arc - piLow), arc);
  return copysign(select((x != x) | (y != y), x + y, arc), y);
}
