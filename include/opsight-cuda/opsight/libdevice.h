// The functions below CUDA's mathematics (NVIDIA's libdevice), written here: whatever LLVM has an intrinsic for is that
// intrinsic, integers and conversions are plain arithmetic, and the rest stays a call that each card supplies
// (src/cuda/module.h lists both). The fast forms are the exact ones: never less precise than CUDA's.
#pragma once
#include "opsight/attributes.h"
#include <__clang_cuda_libdevice_declares.h>

#define OPSIGHT_NV extern "C" inline __attribute__((device)) __attribute__((always_inline))

#define OPSIGHT_1(NAME, OPERATION)                                                                                     \
  OPSIGHT_NV float __nv_##NAME##f(float a) { return OPERATION(a); }                                                    \
  OPSIGHT_NV double __nv_##NAME(double a) { return OPERATION(a); }
#define OPSIGHT_2(NAME, OPERATION)                                                                                     \
  OPSIGHT_NV float __nv_##NAME##f(float a, float b) { return OPERATION(a, b); }                                        \
  OPSIGHT_NV double __nv_##NAME(double a, double b) { return OPERATION(a, b); }

OPSIGHT_1(sqrt, __builtin_elementwise_sqrt)
OPSIGHT_1(fabs, __builtin_elementwise_abs)
OPSIGHT_1(floor, __builtin_elementwise_floor)
OPSIGHT_1(ceil, __builtin_elementwise_ceil)
OPSIGHT_1(trunc, __builtin_elementwise_trunc)
OPSIGHT_1(rint, __builtin_elementwise_rint)
OPSIGHT_1(nearbyint, __builtin_elementwise_nearbyint)
OPSIGHT_1(round, __builtin_elementwise_round)
OPSIGHT_1(exp, __builtin_elementwise_exp)
OPSIGHT_1(exp2, __builtin_elementwise_exp2)
OPSIGHT_1(exp10, __builtin_elementwise_exp10)
OPSIGHT_1(log, __builtin_elementwise_log)
OPSIGHT_1(log2, __builtin_elementwise_log2)
OPSIGHT_1(log10, __builtin_elementwise_log10)
OPSIGHT_1(sin, __builtin_elementwise_sin)
OPSIGHT_1(cos, __builtin_elementwise_cos)
OPSIGHT_1(tan, __builtin_elementwise_tan)
OPSIGHT_1(asin, __builtin_elementwise_asin)
OPSIGHT_1(acos, __builtin_elementwise_acos)
OPSIGHT_1(atan, __builtin_elementwise_atan)
OPSIGHT_1(sinh, __builtin_elementwise_sinh)
OPSIGHT_1(cosh, __builtin_elementwise_cosh)
OPSIGHT_1(tanh, __builtin_elementwise_tanh)
OPSIGHT_2(pow, __builtin_elementwise_pow)
OPSIGHT_2(atan2, __builtin_elementwise_atan2)
OPSIGHT_2(copysign, __builtin_elementwise_copysign)
OPSIGHT_NV float __nv_fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
OPSIGHT_NV double __nv_fmax(double a, double b) { return __builtin_fmax(a, b); }
OPSIGHT_NV float __nv_fminf(float a, float b) { return __builtin_fminf(a, b); }
OPSIGHT_NV double __nv_fmin(double a, double b) { return __builtin_fmin(a, b); }
OPSIGHT_NV float __nv_fmodf(float a, float b) { return __builtin_elementwise_fmod(a, b); }
OPSIGHT_NV double __nv_fmod(double a, double b) { return __builtin_elementwise_fmod(a, b); }
OPSIGHT_NV float __nv_fmaf(float a, float b, float c) { return __builtin_elementwise_fma(a, b, c); }
OPSIGHT_NV double __nv_fma(double a, double b, double c) { return __builtin_elementwise_fma(a, b, c); }
OPSIGHT_NV float __nv_ldexpf(float a, int b) { return __builtin_ldexpf(a, b); }
OPSIGHT_NV double __nv_ldexp(double a, int b) { return __builtin_ldexp(a, b); }
OPSIGHT_NV float __nv_scalbnf(float a, int b) { return __builtin_ldexpf(a, b); }
OPSIGHT_NV double __nv_scalbn(double a, int b) { return __builtin_ldexp(a, b); }
OPSIGHT_NV float __nv_frexpf(float a, int *b) { return __builtin_frexpf(a, b); }
OPSIGHT_NV double __nv_frexp(double a, int *b) { return __builtin_frexp(a, b); }

OPSIGHT_NV double __nv_rsqrt(double a) { return 1.0 / __nv_sqrt(a); }
OPSIGHT_NV float __nv_rsqrtf(float a) { // CUDA: within 2 units in the last place, so the division may be inexact
#pragma clang fp reciprocal(on)
  return 1.0f / __nv_sqrtf(a);
}

#define OPSIGHT_DERIVED(TYPE, F)                                                                                       \
  OPSIGHT_NV TYPE __nv_rcbrt##F(TYPE a) { return TYPE(1) / __nv_cbrt##F(a); }                                          \
  OPSIGHT_NV TYPE __nv_powi##F(TYPE a, int b) { return __nv_pow##F(a, TYPE(b)); }                                      \
  OPSIGHT_NV TYPE __nv_fdim##F(TYPE a, TYPE b) { return a <= b ? TYPE(0) : a - b; }                                    \
  OPSIGHT_NV TYPE __nv_modf##F(TYPE a, TYPE *b) {                                                                      \
    *b = __nv_trunc##F(a);                                                                                             \
    return __nv_copysign##F(__builtin_isinf(a) ? TYPE(0) : a - *b, a);                                                 \
  }                                                                                                                    \
  OPSIGHT_NV void __nv_sincos##F(TYPE a, TYPE *b, TYPE *c) { *b = __nv_sin##F(a), *c = __nv_cos##F(a); }               \
  OPSIGHT_NV void __nv_sincospi##F(TYPE a, TYPE *b, TYPE *c) { *b = __nv_sinpi##F(a), *c = __nv_cospi##F(a); }         \
  OPSIGHT_NV int __nv_ilogb##F(TYPE a) {                                                                               \
    if (a == 0 || a != a)                                                                                              \
      return -__INT_MAX__ - 1;                                                                                         \
    if (__builtin_isinf(a))                                                                                            \
      return __INT_MAX__;                                                                                              \
    int exponent;                                                                                                      \
    __nv_frexp##F(a, &exponent);                                                                                       \
    return exponent - 1;                                                                                               \
  }                                                                                                                    \
  OPSIGHT_NV TYPE __nv_logb##F(TYPE a) {                                                                               \
    return a == 0 ? -__builtin_inff() : a != a ? a : __builtin_isinf(a) ? a * a : TYPE(__nv_ilogb##F(a));              \
  }                                                                                                                    \
  OPSIGHT_NV long long __nv_llrint##F(TYPE a) { return __nv_rint##F(a); }                                              \
  OPSIGHT_NV long long __nv_llround##F(TYPE a) { return __nv_round##F(a); }                                            \
  OPSIGHT_NV TYPE __nv_remquo##F(TYPE a, TYPE b, int *quotient) {                                                      \
    TYPE r = __nv_remainder##F(a, b);                                                                                  \
    *quotient = (int)__builtin_elementwise_fmod(__nv_rint##F((a - r) / b), TYPE(8)); /* its sign and low three bits */ \
    return r;                                                                                                          \
  }                                                                                                                    \
  OPSIGHT_NV TYPE __nv_rnorm3d##F(TYPE a, TYPE b, TYPE c) { return TYPE(1) / __nv_norm3d##F(a, b, c); }                \
  OPSIGHT_NV TYPE __nv_rnorm4d##F(TYPE a, TYPE b, TYPE c, TYPE d) { return TYPE(1) / __nv_norm4d##F(a, b, c, d); }
OPSIGHT_DERIVED(float, f)
OPSIGHT_DERIVED(double, )

OPSIGHT_NV float __nv_fast_sinf(float a) { return __nv_sinf(a); }
OPSIGHT_NV float __nv_fast_cosf(float a) { return __nv_cosf(a); }
OPSIGHT_NV float __nv_fast_tanf(float a) { return __nv_tanf(a); }
OPSIGHT_NV float __nv_fast_expf(float a) { return __nv_expf(a); }
OPSIGHT_NV float __nv_fast_exp10f(float a) { return __nv_exp10f(a); }
OPSIGHT_NV float __nv_fast_logf(float a) { return __nv_logf(a); }
OPSIGHT_NV float __nv_fast_log2f(float a) { return __nv_log2f(a); }
OPSIGHT_NV float __nv_fast_log10f(float a) { return __nv_log10f(a); }
OPSIGHT_NV float __nv_fast_powf(float a, float b) { return __nv_powf(a, b); }
OPSIGHT_NV float __nv_fast_fdividef(float a, float b) { return a / b; }
OPSIGHT_NV void __nv_fast_sincosf(float a, float *b, float *c) { __nv_sincosf(a, b, c); }
OPSIGHT_NV float __nv_saturatef(float a) { return a != a ? 0.0f : __builtin_fminf(__builtin_fmaxf(a, 0.0f), 1.0f); }

OPSIGHT_NV int __nv_isnanf(float a) { return __builtin_isnan(a); }
OPSIGHT_NV int __nv_isnand(double a) { return __builtin_isnan(a); }
OPSIGHT_NV int __nv_isinff(float a) { return __builtin_isinf(a); }
OPSIGHT_NV int __nv_isinfd(double a) { return __builtin_isinf(a); }
OPSIGHT_NV int __nv_finitef(float a) { return __builtin_isfinite(a); }
OPSIGHT_NV int __nv_isfinited(double a) { return __builtin_isfinite(a); }
OPSIGHT_NV int __nv_signbitf(float a) { return __builtin_signbitf(a) != 0; }
OPSIGHT_NV int __nv_signbitd(double a) { return __builtin_signbit(a) != 0; }
OPSIGHT_NV float __nv_nanf(const signed char *) { return __builtin_nanf(""); }
OPSIGHT_NV double __nv_nan(const signed char *) { return __builtin_nan(""); }

// Rounded to nearest and never fused, unlike the operators.
#define OPSIGHT_NEAREST(NAME, TYPE, OPERATOR)                                                                          \
  OPSIGHT_NV TYPE __nv_##NAME##_rn(TYPE a, TYPE b) {                                                                   \
    _Pragma("clang fp contract(off)") return a OPERATOR b;                                                             \
  }
OPSIGHT_NEAREST(fadd, float, +)
OPSIGHT_NEAREST(fsub, float, -)
OPSIGHT_NEAREST(fmul, float, *)
OPSIGHT_NEAREST(fdiv, float, /)
OPSIGHT_NEAREST(dadd, double, +)
OPSIGHT_NEAREST(dsub, double, -)
OPSIGHT_NEAREST(dmul, double, *)
OPSIGHT_NEAREST(ddiv, double, /)
#undef OPSIGHT_NEAREST
OPSIGHT_NV float __nv_frcp_rn(float a) { return 1.0f / a; }
OPSIGHT_NV double __nv_drcp_rn(double a) { return 1.0 / a; }
OPSIGHT_NV float __nv_fsqrt_rn(float a) { return __nv_sqrtf(a); }
OPSIGHT_NV double __nv_dsqrt_rn(double a) { return __nv_sqrt(a); }
OPSIGHT_NV float __nv_frsqrt_rn(float a) { return 1.0f / __nv_sqrtf(a); }
OPSIGHT_NV float __nv_fmaf_rn(float a, float b, float c) { return __nv_fmaf(a, b, c); }
OPSIGHT_NV float __nv_fmaf_ieee_rn(float a, float b, float c) { return __nv_fmaf(a, b, c); }
OPSIGHT_NV double __nv_fma_rn(double a, double b, double c) { return __nv_fma(a, b, c); }

#undef OPSIGHT_1
#undef OPSIGHT_2
#undef OPSIGHT_DERIVED
#include "opsight/conversions.h"
#undef OPSIGHT_NV
