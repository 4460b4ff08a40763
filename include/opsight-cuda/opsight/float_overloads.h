// The float overloads that Clang declares (so that std finds them) and leaves to the SDK to define. Included by math.h.

#define OPSIGHT_OVERLOAD static __inline__ __attribute__((always_inline)) __attribute__((device))
#define OPSIGHT_FLOAT_1(RESULT, NAME)                                                                                  \
  OPSIGHT_OVERLOAD RESULT NAME(float a) { return ::NAME##f(a); }
#define OPSIGHT_FLOAT_2(NAME)                                                                                          \
  OPSIGHT_OVERLOAD float NAME(float a, float b) { return ::NAME##f(a, b); }
OPSIGHT_FLOAT_1(float, acosh)
OPSIGHT_FLOAT_1(float, asinh)
OPSIGHT_FLOAT_1(float, atanh)
OPSIGHT_FLOAT_1(float, cbrt)
OPSIGHT_FLOAT_1(float, erf)
OPSIGHT_FLOAT_1(float, erfc)
OPSIGHT_FLOAT_1(float, exp2)
OPSIGHT_FLOAT_1(float, expm1)
OPSIGHT_FLOAT_1(float, lgamma)
OPSIGHT_FLOAT_1(float, log1p)
OPSIGHT_FLOAT_1(float, log2)
OPSIGHT_FLOAT_1(float, logb)
OPSIGHT_FLOAT_1(float, nearbyint)
OPSIGHT_FLOAT_1(float, rint)
OPSIGHT_FLOAT_1(float, round)
OPSIGHT_FLOAT_1(float, tgamma)
OPSIGHT_FLOAT_1(float, trunc)
OPSIGHT_FLOAT_1(int, ilogb)
OPSIGHT_FLOAT_1(long, lrint)
OPSIGHT_FLOAT_1(long, lround)
OPSIGHT_FLOAT_1(long long, llrint)
OPSIGHT_FLOAT_1(long long, llround)
OPSIGHT_FLOAT_2(copysign)
OPSIGHT_FLOAT_2(fdim)
OPSIGHT_FLOAT_2(fmax)
OPSIGHT_FLOAT_2(fmin)
OPSIGHT_FLOAT_2(hypot)
OPSIGHT_FLOAT_2(nextafter)
OPSIGHT_FLOAT_2(remainder)
OPSIGHT_OVERLOAD float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
OPSIGHT_OVERLOAD float scalbn(float a, int b) { return ::scalbnf(a, b); }
OPSIGHT_OVERLOAD float scalbln(float a, long b) { return ::scalbnf(a, (int)b); }
OPSIGHT_OVERLOAD float remquo(float a, float b, int *quotient) { return ::remquof(a, b, quotient); }
OPSIGHT_OVERLOAD double nan(const char *) { return __builtin_nan(""); }
OPSIGHT_OVERLOAD float nanf(const char *) { return __builtin_nanf(""); }
#undef OPSIGHT_FLOAT_1
#undef OPSIGHT_FLOAT_2
#undef OPSIGHT_OVERLOAD
