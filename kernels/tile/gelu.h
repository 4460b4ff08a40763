// gelu(x) = x · (1 + erf(x/√2)) / 2, the exact one, for a register.
//
// erf(t) = 1 - e^(-t·q(t)) for t in [0, 3.95], past which it is 1 to the last bit; q is a polynomial of degree 8, fitted
// for the smallest absolute error of erf. Absolute error of erf below 2e-7, of gelu below 2e-7 · max(1, |x|)
// (tests/lower/native_tile_test.cpp measures it); a NaN stays a NaN.
#pragma once
#include "exponential.h"

namespace tile {

__device__ __forceinline__ lanes error_function(lanes x) {
  constexpr float enough = 3.95f;
  const lanes positive = x < 0.0f ? -x : x;
  const lanes t = positive > enough ? splat(enough) : positive;
  lanes q = splat(-0x1.0de78ap-17f);
  q = __builtin_elementwise_fma(q, t, splat(0x1.bcb4d8p-14f));
  q = __builtin_elementwise_fma(q, t, splat(-0x1.34413ap-11f));
  q = __builtin_elementwise_fma(q, t, splat(0x1.9d566ap-10f));
  q = __builtin_elementwise_fma(q, t, splat(-0x1.ed12d2p-15f));
  q = __builtin_elementwise_fma(q, t, splat(-0x1.3ada8cp-6f));
  q = __builtin_elementwise_fma(q, t, splat(0x1.a510cap-4f));
  q = __builtin_elementwise_fma(q, t, splat(0x1.45f28cp-1f));
  q = __builtin_elementwise_fma(q, t, splat(0x1.20dd78p+0f));
  const lanes result = 1.0f - exponential(-t * q);
  return x < 0.0f ? -result : result;
}

__device__ __forceinline__ lanes gelu(lanes x) {
  const lanes half = 0.5f * x;
  return __builtin_elementwise_fma(half, error_function(x * 0.707106781f), half);
}

} // namespace tile
