// fmod in float: exact, as C's.
#include "lower/native/mathematics/common.h"

using namespace opsight::mathematics;

namespace {
struct Step {
  double value;
  int left;
};
/// value·2ˢ mod divisor with as much of s = `left` as 2²⁸: the product and the quotient's multiple are exact in double.
OPSIGHT_INLINE Step step(Step from, double divisor, double inverse) {
  int now = clamp(from.left, 0, 28);
  double value = from.value * ofBits(long(now + 1023) << 52);
  double rest = fma(-trunc(value * inverse), divisor, value);
  rest = select(rest < 0, rest + divisor, rest);
  rest = select(rest >= divisor, rest - divisor, rest);
  return {rest, from.left - now};
}
} // namespace

// |x| = value·2ˢ, s ≥ 0, both below 2²⁴ times y's unit; ten steps cover the 277 exponents that floats lie apart.
extern "C" float opsight_fmodf(float x, float y) {
  double dividend = fabs(x), divisor = fabs(y), inverse = 1 / divisor;
  int apart = int(bits(dividend) >> 52) - int(bits(divisor) >> 52);
  int shift = clamp(apart, 0, 280);
  Step now{dividend * ofBits(long(1023 - shift) << 52), shift};
  now = step(now, divisor, inverse); // also where shift is 0
#pragma unroll
  for (int i = 0; i < 10; ++i)
    now = step(now, divisor, inverse);
  float result = select(dividend < divisor, fabs(x), float(now.value));
  result = select((fabs(x) < infinity) & (y != 0), result, notANumber);
  result = select((y != y) | (x != x), x + y, result);
  return copysign(result, x);
}
