// half and half2. Arithmetic is IEEE half precision (LLVM's half), functions are evaluated in float and rounded once.
#pragma once
#include "opsight/prelude.h"

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

struct __half {
  using compute = _Float16;
  __half() = default;
  __host__ __device__ constexpr __half(_Float16 v) : v(v) {}
  __host__ __device__ constexpr __half(float v) : v((_Float16)v) {}
  __host__ __device__ constexpr __half(double v) : v((_Float16)v) {}
  __host__ __device__ constexpr __half(int v) : v((_Float16)v) {}
  __host__ __device__ constexpr __half(unsigned v) : v((_Float16)v) {}
  __host__ __device__ constexpr __half(long v) : v((_Float16)v) {}
  __host__ __device__ constexpr __half(unsigned long v) : v((_Float16)v) {}
  __host__ __device__ constexpr __half(long long v) : v((_Float16)v) {}
  __host__ __device__ constexpr __half(unsigned long long v) : v((_Float16)v) {}
  __host__ __device__ __half(__half_raw raw) : v(__builtin_bit_cast(_Float16, raw.x)) {}
  __host__ __device__ constexpr operator float() const { return (float)v; }
  __host__ __device__ operator __half_raw() const { return {__builtin_bit_cast(unsigned short, v)}; }
  __host__ __device__ static constexpr __half of(_Float16 v) { return __half(v); }
  __host__ __device__ static constexpr __half of(float v) { return __half(v); }
  __host__ __device__ constexpr _Float16 value() const { return v; }

private:
  _Float16 v;
};
struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  __host__ __device__ constexpr __half2(__half x, __half y) : x(x), y(y) {}
  __host__ __device__ __half2(__half2_raw raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
};
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

#include "opsight/small_float.h"
OPSIGHT_SMALL_FLOAT(__half, __half2)

OPSIGHT_BOTH unsigned short __half_as_ushort(__half a) { return __builtin_bit_cast(unsigned short, a); }
OPSIGHT_BOTH short __half_as_short(__half a) { return __builtin_bit_cast(short, a); }
OPSIGHT_BOTH __half __ushort_as_half(unsigned short a) { return __builtin_bit_cast(__half, a); }
OPSIGHT_BOTH __half __short_as_half(short a) { return __builtin_bit_cast(__half, a); }

OPSIGHT_BOTH float __half2float(__half a) { return (float)a; }
OPSIGHT_BOTH __half __float2half(float a) { return __half(a); }
OPSIGHT_BOTH __half __float2half_rn(float a) { return __half(a); }
OPSIGHT_BOTH __half __double2half(double a) { return __half(a); }

// Directed rounding: the nearest half, one step back where it lies on the wrong side of the float.
OPSIGHT_BOTH __half __float2half_rd(float a) {
  __half near(a);
  if (!((float)near > a))
    return near;
  unsigned short bits = __half_as_ushort(near);
  return __ushort_as_half(bits == 0 ? 0x8001 : bits & 0x8000 ? bits + 1 : bits - 1);
}
OPSIGHT_BOTH __half __float2half_ru(float a) { return -__float2half_rd(-a); }
OPSIGHT_BOTH __half __float2half_rz(float a) {
  if (__builtin_isinf(a) || a != a)
    return __half(a);
  return __builtin_signbit(a) ? __float2half_ru(a) : __float2half_rd(a);
}

#define OPSIGHT_HALF_INTEGER(NAME, TYPE)                                                                               \
  OPSIGHT_BOTH __half __##NAME##2half_rn(TYPE a) { return __half(_Float16(a)); }                                       \
  OPSIGHT_DEVICE TYPE __half2##NAME##_rn(__half a) { return (TYPE)::rintf((float)a); }                                 \
  OPSIGHT_DEVICE TYPE __half2##NAME##_rz(__half a) { return (TYPE)::truncf((float)a); }                                \
  OPSIGHT_DEVICE TYPE __half2##NAME##_rd(__half a) { return (TYPE)::floorf((float)a); }                                \
  OPSIGHT_DEVICE TYPE __half2##NAME##_ru(__half a) { return (TYPE)::ceilf((float)a); }
OPSIGHT_HALF_INTEGER(int, int)
OPSIGHT_HALF_INTEGER(uint, unsigned int)
OPSIGHT_HALF_INTEGER(short, short)
OPSIGHT_HALF_INTEGER(ushort, unsigned short)
OPSIGHT_HALF_INTEGER(ll, long long)
OPSIGHT_HALF_INTEGER(ull, unsigned long long)
#undef OPSIGHT_HALF_INTEGER

OPSIGHT_BOTH __half2 make_half2(__half x, __half y) { return {x, y}; }
OPSIGHT_BOTH __half2 __halves2half2(__half x, __half y) { return {x, y}; }
OPSIGHT_BOTH __half2 __half2half2(__half a) { return {a, a}; }
OPSIGHT_BOTH __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
OPSIGHT_BOTH __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
OPSIGHT_BOTH __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
OPSIGHT_BOTH float2 __half22float2(__half2 a) { return {(float)a.x, (float)a.y}; }
OPSIGHT_BOTH __half __low2half(__half2 a) { return a.x; }
OPSIGHT_BOTH __half __high2half(__half2 a) { return a.y; }
OPSIGHT_BOTH __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
OPSIGHT_BOTH __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
OPSIGHT_BOTH __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
OPSIGHT_BOTH __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
OPSIGHT_BOTH __half2 __lowhigh2highlow(__half2 a) { return {a.y, a.x}; }

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
