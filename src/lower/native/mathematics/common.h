// What the elementary functions share. They become bitcode that inline_mathematics puts into kernels before threads
// become lanes, so each is one basic block without calls or memory: conditions select between values already computed,
// and only operations with vector instructions occur. Multiply-adds are fused where written, nowhere else.
#pragma once

namespace opsight::mathematics {

constexpr float infinity = __builtin_inff(), notANumber = __builtin_nanf("");

#define OPSIGHT_INLINE [[gnu::always_inline]] static inline

OPSIGHT_INLINE int bits(float x) { return __builtin_bit_cast(int, x); }
OPSIGHT_INLINE long bits(double x) { return __builtin_bit_cast(long, x); }
OPSIGHT_INLINE float ofBits(int x) { return __builtin_bit_cast(float, x); }
OPSIGHT_INLINE double ofBits(long x) { return __builtin_bit_cast(double, x); }

OPSIGHT_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
OPSIGHT_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
OPSIGHT_INLINE float fabs(float x) { return __builtin_fabsf(x); }
OPSIGHT_INLINE double fabs(double x) { return __builtin_fabs(x); }
OPSIGHT_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
OPSIGHT_INLINE double sqrt(double x) { return __builtin_sqrt(x); }
OPSIGHT_INLINE float trunc(float x) { return __builtin_truncf(x); }
OPSIGHT_INLINE double trunc(double x) { return __builtin_trunc(x); }
OPSIGHT_INLINE float roundeven(float x) { return __builtin_roundevenf(x); }
OPSIGHT_INLINE double roundeven(double x) { return __builtin_roundeven(x); }
OPSIGHT_INLINE float copysign(float x, float sign) { return __builtin_copysignf(x, sign); }
OPSIGHT_INLINE double copysign(double x, double sign) { return __builtin_copysign(x, sign); }

/// `yes` and `no` are both computed: what chooses between values is a select, never a branch.
template <class T> OPSIGHT_INLINE T select(bool condition, T yes, T no) { return condition ? yes : no; }

// One instruction each on x86; a NaN in `x` passes.
template <class T> OPSIGHT_INLINE T atLeast(T x, T bound) { return x < bound ? bound : x; }
template <class T> OPSIGHT_INLINE T atMost(T x, T bound) { return x > bound ? bound : x; }
template <class T> OPSIGHT_INLINE T clamp(T x, T low, T high) { return atMost(atLeast(x, low), high); }

/// c0 + c1 x + c2 x² + …
template <class T, class... Rest> OPSIGHT_INLINE T polynomial(T x, T first, Rest... rest) {
  if constexpr (sizeof...(Rest) == 0)
    return first;
  else
    return fma(x, polynomial(x, rest...), first);
}

/// The whole number nearest to a·b, |a·b| < 2²²: as a float and as an integer, by adding 1.5·2²³.
struct Whole {
  float value;
  int integer;
};
OPSIGHT_INLINE Whole nearest(float a, float b) {
  constexpr float shift = 0x1.8p23f;
  float moved = fma(a, b, shift);
  return {moved - shift, bits(moved) - bits(shift)};
}
/// The same in double, |a·b| < 2³¹.
struct WholeDouble {
  double value;
  int integer;
};
OPSIGHT_INLINE WholeDouble nearest(double a, double b) {
  constexpr double shift = 0x1.8p52;
  double moved = fma(a, b, shift);
  return {moved - shift, int(bits(moved))};
}

} // namespace opsight::mathematics

// x·2ⁿ, correctly rounded, for 2⁻⁶⁰ < |x| < 2⁶⁰ and |n| ≤ 250 (float), 2000 (double); inline_mathematics writes
// llvm.ldexp for them where that is one instruction (AVX-512's vscalef).
extern "C" float opsight_scalef(float x, int n);
extern "C" double opsight_scale(double x, int n);
