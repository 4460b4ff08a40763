// Powers of two by integer arithmetic, and what remains of ldexp and frexp where the processor has no instruction.
#include "lower/native/mathematics/common.h"

using namespace opsight::mathematics;

OPSIGHT_INLINE float powerOfTwo(int n) { return ofBits((n + 127) << 23); }
OPSIGHT_INLINE double powerOfTwoDouble(int n) { return ofBits(long(n + 1023) << 52); }

// Two steps, of which only the second can round.
extern "C" float opsight_scalef(float x, int n) {
  int half = n >> 1;
  return x * powerOfTwo(half) * powerOfTwo(n - half);
}
extern "C" double opsight_scale(double x, int n) {
  int half = n >> 1;
  return x * powerOfTwoDouble(half) * powerOfTwoDouble(n - half);
}

// In double every step is exact, so there is one rounding, the last. Exact.
extern "C" float opsight_ldexpf(float x, int n) {
  n = clamp(n, -320, 320);
  return float(double(x) * powerOfTwoDouble(n));
}

// Subnormal results: the first steps leave the value normal, so only the last rounds. Exact.
extern "C" double opsight_ldexp(double x, int n) {
  n = clamp(n, -2200, 2200);
  double large = fabs(x) < 0x1p-1022 ? x * 0x1p54 : x;
  int moved = fabs(x) < 0x1p-1022 ? n - 54 : n;
  // As a fraction in [1, 2): then `scale`'s steps can neither overflow nor lose bits too early.
  int exponent = int((bits(large) >> 52) & 0x7ff) - 1023;
  double fraction = ofBits((bits(large) & long(0x800fffffffffffff)) | 0x3ff0000000000000);
  int to = clamp(moved + exponent, -1090, 1030);
  double scaled = opsight_scale(fraction, to);
  bool whole = (x == 0) | !(fabs(x) < __builtin_inf());
  return select(whole, x, scaled);
}

// frexp's two results are two functions, for the pass to combine. Zero, infinity and NaN keep themselves, exponent 0.
template <class T> OPSIGHT_INLINE bool hasExponent(T x) { return (x != 0) & (fabs(x) < T(__builtin_inf())); }

extern "C" float opsight_frexp_fractionf(float x) {
  float large = select(fabs(x) < 0x1p-126f, x * 0x1p24f, x);
  return select(hasExponent(x), ofBits((bits(large) & int(0x807fffff)) | 0x3f000000), x);
}
extern "C" int opsight_frexp_exponentf(float x) {
  bool small = fabs(x) < 0x1p-126f;
  int exponent = (bits(select(small, x * 0x1p24f, x)) >> 23 & 0xff) - 126 - select(small, 24, 0);
  return select(hasExponent(x), exponent, 0);
}
extern "C" double opsight_frexp_fraction(double x) {
  double large = select(fabs(x) < 0x1p-1022, x * 0x1p54, x);
  return select(hasExponent(x), ofBits((bits(large) & long(0x800fffffffffffff)) | 0x3fe0000000000000), x);
}
extern "C" int opsight_frexp_exponent(double x) {
  bool small = fabs(x) < 0x1p-1022;
  int exponent = int(bits(select(small, x * 0x1p54, x)) >> 52 & 0x7ff) - 1022 - select(small, 54, 0);
  return select(hasExponent(x), exponent, 0);
}

// The neighbour of x towards y.
extern "C" float opsight_nextafterf(float x, float y) {
  int away = bits(x) + 1, nearer = bits(x) - 1;
  float step = ofBits(select((y > x) == (x > 0), away, nearer));
  step = select(x == 0, copysign(0x1p-149f, y), step);
  step = select(x == y, y, step);
  return select((x != x) | (y != y), x + y, step);
}
