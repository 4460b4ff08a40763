// __nv_bfloat16 and its pair. A value is 16 bits and every operation is done in float and rounded to nearest even by
// integer arithmetic, so no card needs the type, and fast mathematics cannot fold a rounding away. NaN stays NaN.
#pragma once
#include "opsight/prelude.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};

struct __nv_bfloat16 {
  using compute = float;
  __nv_bfloat16() = default;
  __host__ __device__ __nv_bfloat16(float v) : bits(round(v)) {}
  __host__ __device__ __nv_bfloat16(double v) : bits(round(v)) {}
  __host__ __device__ __nv_bfloat16(int v) : bits(round((double)v)) {}
  __host__ __device__ __nv_bfloat16(unsigned v) : bits(round((double)v)) {}
  __host__ __device__ __nv_bfloat16(long v) : bits(round((float)v)) {}
  __host__ __device__ __nv_bfloat16(unsigned long v) : bits(round((float)v)) {}
  __host__ __device__ __nv_bfloat16(long long v) : bits(round((float)v)) {}
  __host__ __device__ __nv_bfloat16(unsigned long long v) : bits(round((float)v)) {}
  __host__ __device__ __nv_bfloat16(__nv_bfloat16_raw raw) : bits(raw.x) {}
  __host__ __device__ operator float() const { return __builtin_bit_cast(float, (unsigned)bits << 16); }
  __host__ __device__ operator __nv_bfloat16_raw() const { return {bits}; }
  __host__ __device__ static __nv_bfloat16 of(float v) { return __nv_bfloat16(v); }
  __host__ __device__ float value() const { return *this; }

private:
  __host__ __device__ static unsigned short round(float v) {
    unsigned word = __builtin_bit_cast(unsigned, v);
    if ((word & 0x7fffffff) > 0x7f800000)
      return 0x7fff;
    return (word + 0x7fff + (word >> 16 & 1)) >> 16;
  }
  // A double goes to float rounded to odd first, so that the second rounding sees which side it lies on.
  __host__ __device__ static unsigned short round(double v) {
    float near = (float)v;
    unsigned word = __builtin_bit_cast(unsigned, near);
    if ((double)near != v && v == v && (word & 0x7f800000) != 0x7f800000) {
      bool tooLarge = __builtin_fabs((double)near) > __builtin_fabs(v);
      word = (tooLarge ? word - 1 : word) | 1;
    }
    return round(__builtin_bit_cast(float, word));
  }
  unsigned short bits;
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __host__ __device__ __nv_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) : x(x), y(y) {}
  __host__ __device__ __nv_bfloat162(__nv_bfloat162_raw raw)
      : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#include "opsight/small_float.h"
OPSIGHT_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162)

OPSIGHT_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return __builtin_bit_cast(unsigned short, a); }
OPSIGHT_BOTH short __bfloat16_as_short(__nv_bfloat16 a) { return __builtin_bit_cast(short, a); }
OPSIGHT_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __nv_bfloat16_raw{a}; }
OPSIGHT_BOTH __nv_bfloat16 __short_as_bfloat16(short a) { return __nv_bfloat16_raw{(unsigned short)a}; }
OPSIGHT_BOTH float __bfloat162float(__nv_bfloat16 a) { return a; }
OPSIGHT_BOTH __nv_bfloat16 __float2bfloat16(float a) { return a; }
OPSIGHT_BOTH __nv_bfloat16 __float2bfloat16_rn(float a) { return a; }
OPSIGHT_BOTH __nv_bfloat16 __double2bfloat16(double a) { return a; }
// Directed: truncation is toward zero; one step away from it where something was cut off.
OPSIGHT_BOTH __nv_bfloat16 __float2bfloat16_rz(float a) {
  return a != a ? __nv_bfloat16(a) : __ushort_as_bfloat16(__builtin_bit_cast(unsigned, a) >> 16);
}
OPSIGHT_BOTH __nv_bfloat16 __float2bfloat16_ru(float a) {
  unsigned word = __builtin_bit_cast(unsigned, a);
  bool up = a == a && !(word & 0x80000000) && (word & 0xffff);
  return up ? __ushort_as_bfloat16((word >> 16) + 1) : __float2bfloat16_rz(a);
}
OPSIGHT_BOTH __nv_bfloat16 __float2bfloat16_rd(float a) { return -__float2bfloat16_ru(-a); }
OPSIGHT_BOTH __nv_bfloat16 __int2bfloat16_rn(int a) { return a; }
OPSIGHT_BOTH __nv_bfloat16 __uint2bfloat16_rn(unsigned a) { return a; }
OPSIGHT_DEVICE int __bfloat162int_rn(__nv_bfloat16 a) { return (int)::rintf(a); }
OPSIGHT_DEVICE int __bfloat162int_rz(__nv_bfloat16 a) { return (int)(float)a; }

OPSIGHT_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
OPSIGHT_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
OPSIGHT_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
OPSIGHT_BOTH __nv_bfloat162 __float2bfloat162_rn(float a) { return {__nv_bfloat16(a), __nv_bfloat16(a)}; }
OPSIGHT_BOTH __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
OPSIGHT_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {__nv_bfloat16(a.x), __nv_bfloat16(a.y)}; }
OPSIGHT_BOTH float2 __bfloat1622float2(__nv_bfloat162 a) { return {(float)a.x, (float)a.y}; }
OPSIGHT_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
OPSIGHT_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
OPSIGHT_BOTH __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return {a.x, a.x}; }
OPSIGHT_BOTH __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return {a.y, a.y}; }
OPSIGHT_BOTH __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x, b.x}; }
OPSIGHT_BOTH __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.y, b.y}; }
