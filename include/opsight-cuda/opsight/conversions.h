// Integer functions and conversions of libdevice, as plain arithmetic. Conversions saturate and take NaN to 0, as the
// hardware does. Included by libdevice.h only.

OPSIGHT_NV int __nv_abs(int a) { return a < 0 ? -(unsigned)a : a; }
OPSIGHT_NV long long __nv_llabs(long long a) { return a < 0 ? -(unsigned long long)a : a; }
OPSIGHT_NV int __nv_max(int a, int b) { return a > b ? a : b; }
OPSIGHT_NV int __nv_min(int a, int b) { return a < b ? a : b; }
OPSIGHT_NV unsigned __nv_umax(unsigned a, unsigned b) { return a > b ? a : b; }
OPSIGHT_NV unsigned __nv_umin(unsigned a, unsigned b) { return a < b ? a : b; }
OPSIGHT_NV long long __nv_llmax(long long a, long long b) { return a > b ? a : b; }
OPSIGHT_NV long long __nv_llmin(long long a, long long b) { return a < b ? a : b; }
OPSIGHT_NV unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
OPSIGHT_NV unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
OPSIGHT_NV int __nv_popc(unsigned a) { return __builtin_popcount(a); }
OPSIGHT_NV int __nv_popcll(unsigned long long a) { return __builtin_popcountll(a); }
OPSIGHT_NV int __nv_clz(int a) { return __builtin_clzg((unsigned)a, 32); }
OPSIGHT_NV int __nv_clzll(long long a) { return __builtin_clzg((unsigned long long)a, 64); }
OPSIGHT_NV int __nv_ffs(int a) { return a ? __builtin_ctz(a) + 1 : 0; }
OPSIGHT_NV int __nv_ffsll(long long a) { return a ? __builtin_ctzll(a) + 1 : 0; }
OPSIGHT_NV int __nv_brev(int a) { return __builtin_bitreverse32(a); }
OPSIGHT_NV long long __nv_brevll(long long a) { return __builtin_bitreverse64(a); }
OPSIGHT_NV int __nv_mulhi(int a, int b) { return (long long)a * b >> 32; }
OPSIGHT_NV unsigned __nv_umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }
OPSIGHT_NV unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b) {
  unsigned long long al = (unsigned)a, ah = a >> 32, bl = (unsigned)b, bh = b >> 32;
  unsigned long long middle = ah * bl + (al * bl >> 32), other = al * bh + (unsigned)middle;
  return ah * bh + (middle >> 32) + (other >> 32);
}
OPSIGHT_NV long long __nv_mul64hi(long long a, long long b) {
  return __nv_umul64hi(a, b) - (a < 0 ? b : 0) - (b < 0 ? a : 0);
}
OPSIGHT_NV int __nv_mul24(int a, int b) { return (int)((unsigned)((a << 8) >> 8) * (unsigned)((b << 8) >> 8)); }
OPSIGHT_NV unsigned __nv_umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
OPSIGHT_NV int __nv_sad(int a, int b, int c) { return (a > b ? (unsigned)a - b : (unsigned)b - a) + c; }
OPSIGHT_NV unsigned __nv_usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
OPSIGHT_NV int __nv_hadd(int a, int b) { return ((long long)a + b) >> 1; }
OPSIGHT_NV int __nv_rhadd(int a, int b) { return ((long long)a + b + 1) >> 1; }
OPSIGHT_NV int __nv_uhadd(unsigned a, unsigned b) { return ((unsigned long long)a + b) >> 1; }
OPSIGHT_NV unsigned __nv_urhadd(unsigned a, unsigned b) { return ((unsigned long long)a + b + 1) >> 1; }
OPSIGHT_NV int __nv_byte_perm(int a, int b, int s) {
  unsigned long long bytes = (unsigned long long)(unsigned)b << 32 | (unsigned)a;
  unsigned r = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    unsigned selector = (unsigned)s >> (4 * i), byte = bytes >> ((selector & 7) * 8) & 0xff;
    r |= (selector & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * i); // bit 3 replicates the sign
  }
  return r;
}

OPSIGHT_NV int __nv_float_as_int(float a) { return __builtin_bit_cast(int, a); }
OPSIGHT_NV unsigned __nv_float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
OPSIGHT_NV float __nv_int_as_float(int a) { return __builtin_bit_cast(float, a); }
OPSIGHT_NV float __nv_uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
OPSIGHT_NV unsigned long long __nv_double_as_longlong(double a) { return __builtin_bit_cast(unsigned long long, a); }
OPSIGHT_NV double __nv_longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
OPSIGHT_NV int __nv_double2hiint(double a) { return __nv_double_as_longlong(a) >> 32; }
OPSIGHT_NV int __nv_double2loint(double a) { return (int)__nv_double_as_longlong(a); }
OPSIGHT_NV double __nv_hiloint2double(int a, int b) {
  return __nv_longlong_as_double((unsigned long long)(unsigned)a << 32 | (unsigned)b);
}
OPSIGHT_NV float __nv_half2float(unsigned short a) { return __builtin_bit_cast(_Float16, a); }
OPSIGHT_NV unsigned short __nv_float2half_rn(float a) { return __builtin_bit_cast(unsigned short, (_Float16)a); }

// LOW and HIGH: the least and the first too large value, both exact in FROM.
#define OPSIGHT_TO_INTEGER(NAME, FROM, F, TO, LOW, HIGH, LEAST, MOST)                                                  \
  OPSIGHT_NV TO __nv_##NAME##_rz(FROM a) {                                                                             \
    return a != a ? 0 : a < (FROM)LOW ? (TO)LEAST : a >= (FROM)HIGH ? (TO)MOST : (TO)a;                                \
  }                                                                                                                    \
  OPSIGHT_NV TO __nv_##NAME##_rn(FROM a) { return __nv_##NAME##_rz(__nv_rint##F(a)); }                                 \
  OPSIGHT_NV TO __nv_##NAME##_rd(FROM a) { return __nv_##NAME##_rz(__nv_floor##F(a)); }                                \
  OPSIGHT_NV TO __nv_##NAME##_ru(FROM a) { return __nv_##NAME##_rz(__nv_ceil##F(a)); }
#define OPSIGHT_TO_INTEGERS(FROM, F)                                                                                   \
  OPSIGHT_TO_INTEGER(FROM##2int, FROM, F, int, -0x1p31, 0x1p31, -__INT_MAX__ - 1, __INT_MAX__)                         \
  OPSIGHT_TO_INTEGER(FROM##2uint, FROM, F, unsigned, 0, 0x1p32, 0, ~0u)                                                \
  OPSIGHT_TO_INTEGER(FROM##2ll, FROM, F, long long, -0x1p63, 0x1p63, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__)        \
  OPSIGHT_TO_INTEGER(FROM##2ull, FROM, F, unsigned long long, 0, 0x1p64, 0, ~0ull)
OPSIGHT_TO_INTEGERS(float, f)
OPSIGHT_TO_INTEGERS(double, )
#undef OPSIGHT_TO_INTEGERS
#undef OPSIGHT_TO_INTEGER

#define OPSIGHT_FROM_INTEGER(NAME, FROM, TO)                                                                           \
  OPSIGHT_NV TO __nv_##NAME##_rn(FROM a) { return (TO)a; }
OPSIGHT_FROM_INTEGER(int2float, int, float)
OPSIGHT_FROM_INTEGER(uint2float, unsigned, float)
OPSIGHT_FROM_INTEGER(ll2float, long long, float)
OPSIGHT_FROM_INTEGER(ull2float, unsigned long long, float)
OPSIGHT_FROM_INTEGER(int2double, int, double)
OPSIGHT_FROM_INTEGER(uint2double, unsigned, double)
OPSIGHT_FROM_INTEGER(ll2double, long long, double)
OPSIGHT_FROM_INTEGER(ull2double, unsigned long long, double)
OPSIGHT_FROM_INTEGER(double2float, double, float)
#undef OPSIGHT_FROM_INTEGER

// Directed double to float: the nearest float, one step back where it lies on the wrong side.
OPSIGHT_NV float __nv_double2float_rd(double a) {
  float near = (float)a;
  if (!((double)near > a))
    return near;
  int bits = __nv_float_as_int(near);
  return __nv_int_as_float(bits == 0 ? (int)0x80000001 : bits < 0 ? bits + 1 : bits - 1);
}
OPSIGHT_NV float __nv_double2float_ru(double a) { return -__nv_double2float_rd(-a); }
OPSIGHT_NV float __nv_double2float_rz(double a) {
  return a < 0 ? __nv_double2float_ru(a) : __nv_double2float_rd(a);
}
