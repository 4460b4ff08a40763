// e^x for a register of x ≤ 0, as softmax needs it: x is a score less the row's maximum.
//
// x·log2(e) is split into a whole number n and a rest f in [-1/2, 1/2]; 2^f is a polynomial of degree 5 and n is added
// to its exponent bits. Relative error below 1.8e-7 + 1.4e-8·|x| (tests/lower/native_tile_test.cpp measures it): the
// second part comes from log2(e) as a float and weighs nothing, since e^x falls faster than it grows. e^0 = 1 exactly,
// 0 below -87.3, where floats are denormal; -infinity gives 0 and a NaN stays a NaN.
#pragma once
#include "lanes.h"

namespace tile {

__device__ __forceinline__ lanes exponential(lanes x) {
  constexpr float log2_e = 1.44269504f;
  // Adding 1.5·2^23 rounds to a whole number and leaves it in the low bits, so neither a rounding nor a conversion
  // instruction is needed; the bits above are shifted out.
  constexpr float rounder = 12582912.0f;
  constexpr float smallest = -87.33654f; // log of the smallest normal float

  // Multiply-adds are spelled out: a compiler does not fuse a product that is used twice.
  const lanes shifted = __builtin_elementwise_fma(x, splat(log2_e), splat(rounder));
  const lanes whole = shifted - rounder;
  const lanes f = __builtin_elementwise_fma(x, splat(log2_e), -whole);
  // Fitted for the smallest relative error on [-1/2, 1/2] with the constant term fixed at 1.
  lanes p = splat(0x1.5bba14p-10f);
  p = __builtin_elementwise_fma(p, f, splat(0x1.3cea88p-7f));
  p = __builtin_elementwise_fma(p, f, splat(0x1.c6b752p-5f));
  p = __builtin_elementwise_fma(p, f, splat(0x1.ebf9bcp-3f));
  p = __builtin_elementwise_fma(p, f, splat(0x1.62e42ap-1f));
  p = __builtin_elementwise_fma(p, f, splat(1.0f));
  const int_lanes bits = __builtin_bit_cast(int_lanes, p) + (__builtin_bit_cast(int_lanes, shifted) << 23);
  return __builtin_bit_cast(lanes, x < smallest ? int_lanes(0) : bits);
}

} // namespace tile
