// CUDA's short vectors (char1 … double4), their alignments and makers, and dim3.
#pragma once
#include "opsight/attributes.h"

#define OPSIGHT_VECTORS(NAME, TYPE, ALIGN2, ALIGN4)                                                                    \
  struct NAME##1 {                                                                                                     \
    TYPE x;                                                                                                            \
  };                                                                                                                   \
  struct __attribute__((aligned(ALIGN2))) NAME##2 {                                                                    \
    TYPE x, y;                                                                                                         \
  };                                                                                                                   \
  struct NAME##3 {                                                                                                     \
    TYPE x, y, z;                                                                                                      \
  };                                                                                                                   \
  struct __attribute__((aligned(ALIGN4))) NAME##4 {                                                                    \
    TYPE x, y, z, w;                                                                                                   \
  };                                                                                                                   \
  OPSIGHT_BOTH NAME##1 make_##NAME##1(TYPE x) { return {x}; }                                                          \
  OPSIGHT_BOTH NAME##2 make_##NAME##2(TYPE x, TYPE y) { return {x, y}; }                                               \
  OPSIGHT_BOTH NAME##3 make_##NAME##3(TYPE x, TYPE y, TYPE z) { return {x, y, z}; }                                    \
  OPSIGHT_BOTH NAME##4 make_##NAME##4(TYPE x, TYPE y, TYPE z, TYPE w) { return {x, y, z, w}; }

OPSIGHT_VECTORS(char, signed char, 2, 4)
OPSIGHT_VECTORS(uchar, unsigned char, 2, 4)
OPSIGHT_VECTORS(short, short, 4, 8)
OPSIGHT_VECTORS(ushort, unsigned short, 4, 8)
OPSIGHT_VECTORS(int, int, 8, 16)
OPSIGHT_VECTORS(uint, unsigned int, 8, 16)
OPSIGHT_VECTORS(long, long, 16, 16)
OPSIGHT_VECTORS(ulong, unsigned long, 16, 16)
OPSIGHT_VECTORS(longlong, long long, 16, 16)
OPSIGHT_VECTORS(ulonglong, unsigned long long, 16, 16)
OPSIGHT_VECTORS(float, float, 8, 16)
OPSIGHT_VECTORS(double, double, 16, 16)
#undef OPSIGHT_VECTORS

struct dim3 {
  unsigned int x, y, z;
  __attribute__((host)) __attribute__((device)) constexpr dim3(unsigned int x = 1, unsigned int y = 1,
                                                               unsigned int z = 1)
      : x(x), y(y), z(z) {}
  __attribute__((host)) __attribute__((device)) constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __attribute__((host)) __attribute__((device)) constexpr operator uint3() const { return {x, y, z}; }
};
