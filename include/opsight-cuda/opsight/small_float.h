// What half and bfloat16 share: OPSIGHT_SMALL_FLOAT(T, T2) defines the operators and functions of a 16-bit float T and
// its pair T2. T names the type it computes in (T::compute), T::of() rounds to nearest even, and value() is exact.
#pragma once
#include "opsight/prelude.h"

#define OPSIGHT_SMALL_OPERATOR(T, T2, SIGN, NAME)                                                                      \
  OPSIGHT_BOTH T operator SIGN(T a, T b) { return T::of(a.value() SIGN b.value()); }                                   \
  OPSIGHT_BOTH T &operator SIGN##=(T &a, T b) { return a = a SIGN b; }                                                 \
  OPSIGHT_BOTH T2 operator SIGN(T2 a, T2 b) { return {a.x SIGN b.x, a.y SIGN b.y}; }                                   \
  OPSIGHT_BOTH T2 &operator SIGN##=(T2 &a, T2 b) { return a = a SIGN b; }                                              \
  OPSIGHT_BOTH T __h##NAME(T a, T b) { return a SIGN b; }                                                              \
  OPSIGHT_BOTH T2 __h##NAME##2(T2 a, T2 b) { return a SIGN b; }                                                        \
  OPSIGHT_BOTH T __h##NAME##_rn(T a, T b) {                                                                            \
    _Pragma("clang fp contract(off)") return T::of(a.value() SIGN b.value());                                          \
  }                                                                                                                    \
  OPSIGHT_BOTH T2 __h##NAME##2_rn(T2 a, T2 b) { return {__h##NAME##_rn(a.x, b.x), __h##NAME##_rn(a.y, b.y)}; }         \
  OPSIGHT_BOTH T __h##NAME##_sat(T a, T b) { return __opsight_saturate(a SIGN b); }                                    \
  OPSIGHT_BOTH T2 __h##NAME##2_sat(T2 a, T2 b) { return {__h##NAME##_sat(a.x, b.x), __h##NAME##_sat(a.y, b.y)}; }

// NAME is false on NaN, NAMEu true.
#define OPSIGHT_SMALL_COMPARE(T, T2, SIGN, NAME)                                                                       \
  OPSIGHT_BOTH bool operator SIGN(T a, T b) { return a.value() SIGN b.value(); }                                       \
  OPSIGHT_BOTH bool __h##NAME(T a, T b) { return !__hisnan(a) && !__hisnan(b) && a.value() SIGN b.value(); }           \
  OPSIGHT_BOTH bool __h##NAME##u(T a, T b) { return __hisnan(a) || __hisnan(b) || a.value() SIGN b.value(); }          \
  OPSIGHT_BOTH T2 __h##NAME##2(T2 a, T2 b) {                                                                           \
    return {T::of(__h##NAME(a.x, b.x) ? 1.0f : 0.0f), T::of(__h##NAME(a.y, b.y) ? 1.0f : 0.0f)};                       \
  }                                                                                                                    \
  OPSIGHT_BOTH bool __hb##NAME##2(T2 a, T2 b) { return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y); }

#define OPSIGHT_SMALL_FUNCTION(T, T2, NAME, EXPRESSION)                                                                \
  OPSIGHT_DEVICE T h##NAME(T h) {                                                                                      \
    float a = (float)h.value();                                                                                        \
    return T::of((float)(EXPRESSION));                                                                                 \
  }                                                                                                                    \
  OPSIGHT_DEVICE T2 h2##NAME(T2 a) { return {h##NAME(a.x), h##NAME(a.y)}; }

#define OPSIGHT_SMALL_SHUFFLE(T, T2, NAME, LANE)                                                                       \
  OPSIGHT_DEVICE T NAME(unsigned mask, T v, LANE lane, int width = 32) { return __opsight##NAME(mask, v, lane, width); } \
  OPSIGHT_DEVICE T2 NAME(unsigned mask, T2 v, LANE lane, int width = 32) {                                             \
    return __opsight##NAME(mask, v, lane, width);                                                                      \
  }

// An atomic on 16 bits is a loop on the aligned word that holds them.
#define OPSIGHT_SMALL_ATOMIC(T, T2)                                                                                    \
  OPSIGHT_DEVICE T2 atomicAdd(T2 *p, T2 v) {                                                                           \
    unsigned *word = (unsigned *)p, seen = *word;                                                                      \
    while (true) {                                                                                                     \
      unsigned before = atomicCAS(word, seen, __builtin_bit_cast(unsigned, __builtin_bit_cast(T2, seen) + v));         \
      if (before == seen)                                                                                              \
        return __builtin_bit_cast(T2, seen);                                                                           \
      seen = before;                                                                                                   \
    }                                                                                                                  \
  }                                                                                                                    \
  OPSIGHT_DEVICE T atomicAdd(T *p, T v) {                                                                              \
    bool upper = (unsigned long long)p & 2;                                                                            \
    unsigned *word = (unsigned *)((char *)p - (upper ? 2 : 0)), seen = *word;                                          \
    while (true) {                                                                                                     \
      T2 both = __builtin_bit_cast(T2, seen);                                                                          \
      T old = upper ? both.y : both.x;                                                                                 \
      (upper ? both.y : both.x) = old + v;                                                                             \
      unsigned before = atomicCAS(word, seen, __builtin_bit_cast(unsigned, both));                                     \
      if (before == seen)                                                                                              \
        return old;                                                                                                    \
      seen = before;                                                                                                   \
    }                                                                                                                  \
  }

#define OPSIGHT_SMALL_FLOAT(T, T2)                                                                                     \
  OPSIGHT_BOTH bool __hisnan(T a) { return __builtin_isnan((float)a.value()); }                                        \
  OPSIGHT_BOTH int __hisinf(T a) {                                                                                     \
    return __builtin_isinf((float)a.value()) ? (a.value() > 0 ? 1 : -1) : 0;                                           \
  }                                                                                                                    \
  OPSIGHT_BOTH T2 __hisnan2(T2 a) {                                                                                    \
    return {T::of(__hisnan(a.x) ? 1.0f : 0.0f), T::of(__hisnan(a.y) ? 1.0f : 0.0f)};                                   \
  }                                                                                                                    \
  OPSIGHT_BOTH T __opsight_saturate(T a) {                                                                             \
    return __hisnan(a) || a.value() <= 0 ? T::of(0.0f) : a.value() >= 1 ? T::of(1.0f) : a;                             \
  }                                                                                                                    \
  OPSIGHT_SMALL_OPERATOR(T, T2, +, add)                                                                                \
  OPSIGHT_SMALL_OPERATOR(T, T2, -, sub)                                                                                \
  OPSIGHT_SMALL_OPERATOR(T, T2, *, mul)                                                                                \
  OPSIGHT_SMALL_OPERATOR(T, T2, /, div)                                                                                \
  OPSIGHT_BOTH T2 __h2div(T2 a, T2 b) { return a / b; }                                                                \
  OPSIGHT_SMALL_COMPARE(T, T2, ==, eq)                                                                                 \
  OPSIGHT_SMALL_COMPARE(T, T2, !=, ne)                                                                                 \
  OPSIGHT_SMALL_COMPARE(T, T2, <, lt)                                                                                  \
  OPSIGHT_SMALL_COMPARE(T, T2, <=, le)                                                                                 \
  OPSIGHT_SMALL_COMPARE(T, T2, >, gt)                                                                                  \
  OPSIGHT_SMALL_COMPARE(T, T2, >=, ge)                                                                                 \
  OPSIGHT_BOTH T operator+(T a) { return a; }                                                                          \
  OPSIGHT_BOTH T operator-(T a) { return T::of(-a.value()); }                                                          \
  OPSIGHT_BOTH T2 operator-(T2 a) { return {-a.x, -a.y}; }                                                             \
  OPSIGHT_BOTH T &operator++(T &a) { return a = a + T::of(1.0f); }                                                     \
  OPSIGHT_BOTH T &operator--(T &a) { return a = a - T::of(1.0f); }                                                     \
  OPSIGHT_BOTH bool operator==(T2 a, T2 b) { return a.x == b.x && a.y == b.y; }                                        \
  OPSIGHT_BOTH T __hneg(T a) { return -a; }                                                                            \
  OPSIGHT_BOTH T2 __hneg2(T2 a) { return -a; }                                                                         \
  OPSIGHT_BOTH T __habs(T a) { return T::of(__builtin_elementwise_abs(a.value())); }                                   \
  OPSIGHT_BOTH T2 __habs2(T2 a) { return {__habs(a.x), __habs(a.y)}; }                                                 \
  OPSIGHT_BOTH T __hfma(T a, T b, T c) { return T::of(__builtin_elementwise_fma(a.value(), b.value(), c.value())); }   \
  OPSIGHT_BOTH T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }                 \
  OPSIGHT_BOTH T __hfma_sat(T a, T b, T c) { return __opsight_saturate(__hfma(a, b, c)); }                             \
  OPSIGHT_BOTH T2 __hfma2_sat(T2 a, T2 b, T2 c) { return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)}; }     \
  OPSIGHT_BOTH T __hfma_relu(T a, T b, T c) {                                                                          \
    T r = __hfma(a, b, c);                                                                                             \
    return r.value() < 0 ? T::of(0.0f) : r;                                                                            \
  }                                                                                                                    \
  /* A number beats NaN, and +0 is greater than -0. Values are selected, not objects, which would stay in memory. */   \
  OPSIGHT_BOTH T __hmax(T a, T b) {                                                                                    \
    bool first = __hisnan(b) || (a.value() == b.value() ? !__builtin_signbit((float)a.value()) : a.value() > b.value());\
    return T::of(first ? a.value() : b.value());                                                                       \
  }                                                                                                                    \
  OPSIGHT_BOTH T __hmin(T a, T b) {                                                                                    \
    bool first = __hisnan(b) || (a.value() == b.value() ? __builtin_signbit((float)a.value()) : a.value() < b.value());\
    return T::of(first ? a.value() : b.value());                                                                       \
  }                                                                                                                    \
  OPSIGHT_BOTH T2 __hmax2(T2 a, T2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                                 \
  OPSIGHT_BOTH T2 __hmin2(T2 a, T2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                                 \
  OPSIGHT_BOTH T __hmax_nan(T a, T b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }                     \
  OPSIGHT_BOTH T __hmin_nan(T a, T b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }                     \
  OPSIGHT_SMALL_FUNCTION(T, T2, sqrt, ::sqrtf(a))                                                                      \
  OPSIGHT_SMALL_FUNCTION(T, T2, rsqrt, ::rsqrtf(a))                                                                    \
  OPSIGHT_SMALL_FUNCTION(T, T2, rcp, 1.0f / a)                                                                         \
  OPSIGHT_SMALL_FUNCTION(T, T2, exp, ::expf(a))                                                                        \
  OPSIGHT_SMALL_FUNCTION(T, T2, exp2, ::exp2f(a))                                                                      \
  OPSIGHT_SMALL_FUNCTION(T, T2, exp10, ::exp10f(a))                                                                    \
  OPSIGHT_SMALL_FUNCTION(T, T2, log, ::logf(a))                                                                        \
  OPSIGHT_SMALL_FUNCTION(T, T2, log2, ::log2f(a))                                                                      \
  OPSIGHT_SMALL_FUNCTION(T, T2, log10, ::log10f(a))                                                                    \
  OPSIGHT_SMALL_FUNCTION(T, T2, sin, ::sinf(a))                                                                        \
  OPSIGHT_SMALL_FUNCTION(T, T2, cos, ::cosf(a))                                                                        \
  OPSIGHT_SMALL_FUNCTION(T, T2, tanh, ::tanhf(a))                                                                      \
  OPSIGHT_SMALL_FUNCTION(T, T2, floor, ::floorf(a))                                                                    \
  OPSIGHT_SMALL_FUNCTION(T, T2, ceil, ::ceilf(a))                                                                      \
  OPSIGHT_SMALL_FUNCTION(T, T2, trunc, ::truncf(a))                                                                    \
  OPSIGHT_SMALL_FUNCTION(T, T2, rint, ::rintf(a))                                                                      \
  OPSIGHT_SMALL_SHUFFLE(T, T2, __shfl_sync, int)                                                                       \
  OPSIGHT_SMALL_SHUFFLE(T, T2, __shfl_up_sync, unsigned)                                                               \
  OPSIGHT_SMALL_SHUFFLE(T, T2, __shfl_down_sync, unsigned)                                                             \
  OPSIGHT_SMALL_SHUFFLE(T, T2, __shfl_xor_sync, int)                                                                   \
  OPSIGHT_SMALL_ATOMIC(T, T2)                                                                                          \
  OPSIGHT_BOTH float __low2float(T2 a) { return (float)a.x.value(); }                                                  \
  OPSIGHT_BOTH float __high2float(T2 a) { return (float)a.y.value(); }
