// sin, cos, tan, and those of πx, in float.
//
// The reduction serves every argument alike, without a slow path that all lanes would have to take: in double, |x| is
// multiplied by 2/π in two words. From 2⁴⁴ on x is a whole multiple of 2ˢ, s = 21, 42, 63, 84 in steps of 21 exponents,
// and only (2ˢ·2/π mod 4)·2⁻ˢ counts: so each step has its own two words, and no product reaches 2⁴⁶ quarter turns.
// What is lost is below 2⁻⁶⁰ of one, where the nearest that a float comes to a whole number of them is about 2⁻³⁰.
//
// Largest errors measured, in ulp. Of every float of magnitude 10⁻⁴ to 10¹²: sin 1.49, cos 1.49; 10⁻⁴ to 10⁸: tan 2.49.
// Of every 997th float, all magnitudes: sin 1.46, cos 1.48, tan 2.43, sinpi 1.42, cospi 1.42.
#include "lower/native/mathematics/common.h"

using namespace opsight::mathematics;

namespace {
struct Reduced {
  float angle;  // within ±π/4
  int quadrant; // modulo 4
};
} // namespace

OPSIGHT_INLINE Reduced reduce(float x) {
  double value = fabs(x);
  double high = 0x1.45f306dc9c883p-1, low = -0x1.6b01ec5417056p-55;
  auto from = [&](double least, double itsHigh, double itsLow) {
    high = select(value >= least, itsHigh, high);
    low = select(value >= least, itsLow, low);
  };
  from(0x1p44, 0x1.b727220a94fe1p-23, 0x1.d5f47d4d37703p-78);
  from(0x1p65, 0x1.1054a7f09d5f4p-42, 0x1.f534ddc0db629p-96);
  from(0x1p86, 0x1.fc2757d1f534ep-64, -0x1.1f924eb53361ep-119);
  from(0x1p107, 0x1.7d1f534ddc0dbp-84, 0x1.8a5664f10e410p-138);
  double turns = value * high;
  double lost = fma(value, high, -turns);
  WholeDouble whole = nearest(turns, 1.0);
  double rest = (turns - whole.value) + fma(value, low, lost);
  return {float(rest * 0x1.921fb54442d18p+0), whole.integer};
}

OPSIGHT_INLINE float sineOf(float r, float square) {
  return fma(r * square, polynomial(square, -0x1.555556p-3f, 0x1.111174p-7f, -0x1.a05956p-13f, 0x1.7c2da2p-19f), r);
}
OPSIGHT_INLINE float cosineOf(float square) {
  return polynomial(square, 0x1p+0f, -0x1p-1f, 0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e80cp-16f);
}

OPSIGHT_INLINE float signedBy(float value, int sign) { return ofBits(bits(value) ^ sign); }

/// sin of `reduced` and `ahead` quadrants more.
OPSIGHT_INLINE float sineAhead(Reduced reduced, int ahead) {
  float square = reduced.angle * reduced.angle;
  int quadrant = reduced.quadrant + ahead;
  float value = select((quadrant & 1) != 0, cosineOf(square), sineOf(reduced.angle, square));
  return signedBy(value, (quadrant & 2) << 30);
}

extern "C" float opsight_sinf(float x) { return signedBy(sineAhead(reduce(x), 0), bits(x) & int(0x80000000)); }

extern "C" float opsight_cosf(float x) { return sineAhead(reduce(x), 1); }

// tan of the reduced angle, or the negative reciprocal of it.
extern "C" float opsight_tanf(float x) {
  Reduced reduced = reduce(x);
  float r = reduced.angle, square = r * r;
  float tangent = fma(r * square,
                      polynomial(square, 0x1.55556p-2f, 0x1.110d9ap-3f, 0x1.badadep-5f, 0x1.5cb2b2p-6f, 0x1.631e62p-7f,
                                 0x1.6276bep-14f, 0x1.1f0b3cp-8f),
                      r);
  float value = select((reduced.quadrant & 1) != 0, -1.0f / tangent, tangent);
  return signedBy(value, bits(x) & int(0x80000000));
}

// x less a multiple of 2, and less the nearest half of what is left, are exact in float.
OPSIGHT_INLINE Reduced reduceHalves(float x) {
  float value = fabs(x);
  value = fma(trunc(value * 0.5f), -2.0f, value);
  Whole halves = nearest(value, 2.0f);
  float rest = fma(halves.value, -0.5f, value);
  constexpr float piHigh = 0x1.921fb6p+1f, piLow = -0x1.777a5cp-24f;
  return {fma(rest, piHigh, rest * piLow), halves.integer};
}

// Whole x give 0, signed as x is.
extern "C" float opsight_sinpif(float x) {
  Reduced reduced = reduceHalves(x);
  float value = sineAhead(reduced, 0);
  value = select(value == 0, 0.0f, value);
  return signedBy(value, bits(x) & int(0x80000000));
}

extern "C" float opsight_cospif(float x) {
  float value = sineAhead(reduceHalves(x), 1);
  return select(value == 0, 0.0f, value);
}
