// fmod and remainder in float: exact, as C's.
#include "lower/native/mathematics/common.h"

using namespace opsight::mathematics;

namespace {
struct Remainder {
  double rest; // |x| mod |y|, in [0, |y|)
  bool odd;    // the quotient's last bit
};
} // namespace

// Long division in double with digits of 28 bits: ten of them cover the 277 exponents that floats lie apart, and a
// digit beyond the quotient's first is 0. Each digit may be one off and leave a rest of either sign, which the next one
// takes up. Every rest is a multiple of the smaller of x's and y's units and below 2²⁶ of them, so each step is exact.
OPSIGHT_INLINE Remainder divide(float x, float y) {
  double rest = fabs(x), divisor = fabs(y), inverse = 1 / divisor, digit = 0;
#pragma unroll
  for (int place = 9; place >= 0; --place) {
    digit = trunc(rest * (inverse * ofBits(long(1023 - 28 * place) << 52)));
    rest = fma(-digit, divisor * ofBits(long(1023 + 28 * place) << 52), rest);
  }
  bool odd = trunc(digit * 0.5) != digit * 0.5, below = rest < 0;
  rest = select(below, rest + divisor, rest);
  bool above = rest >= divisor;
  return {select(above, rest - divisor, rest), odd != (below != above)};
}

/// `regular` for finite x and y ≠ 0.
OPSIGHT_INLINE float ofRemainder(float x, float y, float regular) {
  float result = select((fabs(x) < infinity) & (y != 0), regular, notANumber);
  return select((x != x) | (y != y), x + y, result);
}

extern "C" float opsight_fmodf(float x, float y) {
  float rest = select(fabs(x) < fabs(y), fabs(x), float(divide(x, y).rest));
  return ofRemainder(x, y, copysign(rest, x));
}

// The nearest multiple of y is the next one where more than half of y is left, or half beside an odd quotient.
extern "C" float opsight_remainderf(float x, float y) {
  Remainder left = divide(x, y);
  double rest = left.rest, divisor = fabs(y);
  bool next = (rest + rest > divisor) | ((rest + rest == divisor) & left.odd);
  float result = float(select(next, rest - divisor, rest));
  result = select(fabs(y) == infinity, fabs(x), result);
  float positive = select(result == 0, 0.0f, result);
  return ofRemainder(x, y, ofBits(bits(positive) ^ (bits(x) & int(0x80000000))));
}
