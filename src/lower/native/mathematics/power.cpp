// pow, cbrt, and square roots of sums of squares, in float. Their inner work is in double: what float would need for
// the same accuracy and range (pairs of floats, scaling against overflow) costs more than half of the lanes.
//
// Errors measured: cbrt below 0.51 ulp of every 997th float; the others below 1 ulp on random and special arguments.
#include "lower/native/mathematics/common.h"

using namespace opsight::mathematics;

namespace {
/// log₂ x for finite x > 0, to 2⁻³⁹ relatively.
OPSIGHT_INLINE double log2Of(double x) {
  int high = int(bits(x) >> 32);
  int k = (high - 0x3fe6a09e) >> 20; // 1/√2
  double m = ofBits(bits(x) - (long(k) << 52));
  double s = (m - 1) / (m + 1), square = s * s;
  return fma(s,
             polynomial(square, 0x1.71547652b8302p+1, 0x1.ec709dc39a331p-1, 0x1.2776c51930725p-1, 0x1.a617542762a61p-2,
                        0x1.485030d0d2851p-2, 0x1.0ba965981e755p-2, 0x1.f2b6dc9bbe59cp-3),
             double(k));
}

/// 2ˣ for |x| ≤ 1000.
OPSIGHT_INLINE double exp2Of(double x) {
  WholeDouble whole = nearest(x, 1.0);
  double rest = x - whole.value;
  double power = polynomial(rest, 0x1p+0, 0x1.62e4300bf3ab6p-1, 0x1.ebfbe0465ff68p-3, 0x1.c6b054aa54248p-5,
                            0x1.3b2a1ab5a752fp-7, 0x1.5dc08a3c82573p-10, 0x1.4440d5f01d44ap-13, 0x1.c049f382b733dp-17);
  return ofBits(bits(power) + (long(whole.integer) << 52));
}
} // namespace

// |x|ʸ, then the sign and the exceptions of C's Annex F.
extern "C" float opsight_powf(float x, float y) {
  float value = fabs(x);
  double logarithm = select(value == 0, -double(infinity), log2Of(value));
  logarithm = select(value == infinity, double(infinity), logarithm);
  float power = float(exp2Of(clamp(double(y) * logarithm, -300.0, 300.0)));
  bool whole = trunc(y) == y;
  bool odd = whole & (trunc(y * 0.5f) != y * 0.5f);
  power = select((bits(x) < 0) & odd, -power, power);
  power = select((x < 0) & !whole & (value < infinity), notANumber, power);
  power = select((x != x) | (y != y), x + y, power);
  power = select((x == -1) & (fabs(y) == infinity), 1.0f, power);
  return select((x == 1) | (y == 0), 1.0f, power);
}

// A guess from the exponent's third, two steps of Halley's method.
extern "C" float opsight_cbrtf(float x) {
  float value = fabs(x);
  bool small = value < 0x1p-90f;
  value = value * select(small, 0x1p24f, 0x1p-24f); // so that no cube overflows
  float guess = ofBits(int(fma(float(bits(value)), 0x1.555556p-2f, 709952852.0f)));
  float cube = guess * guess * guess;
  guess = guess * (fma(2.0f, value, cube) / fma(2.0f, cube, value));
  double root = guess, third = root * root * root;
  float result = float(root * (fma(2.0, double(value), third) / fma(2.0, third, double(value))));
  result = result * select(small, 0x1p-8f, 0x1p8f);
  return select((x == 0) | !(fabs(x) < infinity), x, copysign(result, x));
}

namespace {
// In double no square of a float over- or underflows. Infinite where any is, even beside a NaN.
template <class... T> OPSIGHT_INLINE double squares(T... x) { return (0.0 + ... + (double(x) * double(x))); }
template <class... T> OPSIGHT_INLINE bool anyInfinite(T... x) { return (false | ... | (fabs(x) == infinity)); }
} // namespace

extern "C" float opsight_hypotf(float x, float y) {
  return select(anyInfinite(x, y), infinity, float(sqrt(squares(x, y))));
}
extern "C" float opsight_rhypotf(float x, float y) {
  return select(anyInfinite(x, y), 0.0f, float(1 / sqrt(squares(x, y))));
}
extern "C" float opsight_norm3df(float x, float y, float z) {
  return select(anyInfinite(x, y, z), infinity, float(sqrt(squares(x, y, z))));
}
extern "C" float opsight_norm4df(float x, float y, float z, float w) {
  return select(anyInfinite(x, y, z, w), infinity, float(sqrt(squares(x, y, z, w))));
}
