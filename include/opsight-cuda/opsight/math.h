// CUDA's mathematics: Clang's declarations over libdevice.h, the C++ overloads, and CUDA's own min and max.
//
// Order matters. The forward declarations must be seen before the standard library pulls the host's functions into std,
// else a device call would bind to the host's.
#pragma once
#include "opsight/attributes.h"
#include <__clang_cuda_math_forward_declares.h>
#include <climits>
#define _GLIBCXX_BITS_SPECFUN_H 1 // see our <cmath>
#include <cmath>
#undef _GLIBCXX_BITS_SPECFUN_H
#include <bits/stl_algobase.h> // std::min, max and swap, which <cmath> would have brought
#include <cstdlib>
#include <cstring>

#include "opsight/libdevice.h"

#ifndef CUDA_VERSION
#define CUDA_VERSION 12080
#endif
// These are ours (warp.h, memory.h, below): Clang's speak in ways that lowerings would have to know besides.
#define max __clang_max
#define min __clang_min
#define __threadfence __clang_threadfence
#define __threadfence_block __clang_threadfence_block
#define __threadfence_system __clang_threadfence_system
#define __all __clang_all
#define __any __clang_any
#define __ballot __clang_ballot
#define __brkpt __clang_brkpt
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>
#undef max
#undef min
#undef __threadfence
#undef __threadfence_block
#undef __threadfence_system
#undef __all
#undef __any
#undef __ballot
#undef __brkpt
#include <__clang_cuda_cmath.h>

#include "opsight/float_overloads.h"

OPSIGHT_DEVICE float rsqrt(float a) { return rsqrtf(a); }
OPSIGHT_DEVICE float rcbrt(float a) { return rcbrtf(a); }
OPSIGHT_DEVICE float exp10(float a) { return exp10f(a); }
OPSIGHT_DEVICE float sinpi(float a) { return sinpif(a); }
OPSIGHT_DEVICE float cospi(float a) { return cospif(a); }
OPSIGHT_DEVICE float erfinv(float a) { return erfinvf(a); }
OPSIGHT_DEVICE float erfcinv(float a) { return erfcinvf(a); }
OPSIGHT_DEVICE float erfcx(float a) { return erfcxf(a); }
OPSIGHT_DEVICE float normcdf(float a) { return normcdff(a); }
OPSIGHT_DEVICE float normcdfinv(float a) { return normcdfinvf(a); }
OPSIGHT_DEVICE float rhypot(float a, float b) { return rhypotf(a, b); }
OPSIGHT_DEVICE void sincos(float a, float *s, float *c) { sincosf(a, s, c); }
OPSIGHT_DEVICE void sincospi(float a, float *s, float *c) { sincospif(a, s, c); }

// CUDA's overload set: mixed integers compare as the unsigned one, float with double as double, nothing is truncated.
#define OPSIGHT_MIN_MAX(A, B, R)                                                                                       \
  OPSIGHT_BOTH R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }                                                   \
  OPSIGHT_BOTH R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }
#define OPSIGHT_MIN_MAX_MIXED(SIGNED, UNSIGNED)                                                                        \
  OPSIGHT_MIN_MAX(SIGNED, SIGNED, SIGNED)                                                                              \
  OPSIGHT_MIN_MAX(UNSIGNED, UNSIGNED, UNSIGNED)                                                                        \
  OPSIGHT_MIN_MAX(SIGNED, UNSIGNED, UNSIGNED)                                                                          \
  OPSIGHT_MIN_MAX(UNSIGNED, SIGNED, UNSIGNED)
OPSIGHT_MIN_MAX_MIXED(int, unsigned int)
OPSIGHT_MIN_MAX_MIXED(long, unsigned long)
OPSIGHT_MIN_MAX_MIXED(long long, unsigned long long)
#undef OPSIGHT_MIN_MAX_MIXED
#undef OPSIGHT_MIN_MAX
#define OPSIGHT_MIN_MAX(A, B, R, F)                                                                                    \
  OPSIGHT_BOTH R max(A a, B b) { return __builtin_fmax##F(a, b); }                                                     \
  OPSIGHT_BOTH R min(A a, B b) { return __builtin_fmin##F(a, b); }
OPSIGHT_MIN_MAX(float, float, float, f)
OPSIGHT_MIN_MAX(double, double, double, )
OPSIGHT_MIN_MAX(float, double, double, )
OPSIGHT_MIN_MAX(double, float, double, )
#undef OPSIGHT_MIN_MAX
