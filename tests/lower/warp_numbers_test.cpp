// Arithmetic on the warp machine: to the bit what CUDA documents, or what the NVIDIA card does where C says nothing.
#include "lower/semantic_case.h"
#include <bit>
#include <limits>

namespace opsight::lower {
namespace {

using ull = unsigned long long;
const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
const int least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
constexpr uint32_t ones = ~0u;

const std::vector<Case> integers = {
    {.name = "VectorsCutAnew", // the bits of short vectors as elements of another width, per thread
     .cuda = R"(typedef short s2 __attribute__((ext_vector_type(2))); typedef short s4 __attribute__((ext_vector_type(4)));
       typedef unsigned char b4 __attribute__((ext_vector_type(4))); typedef unsigned u2 __attribute__((ext_vector_type(2)));
       __global__ void k(unsigned *out) {
         int t = threadIdx.x;
         s2 pair = {short(t * 3), short(-t)};
         b4 bytes = __builtin_bit_cast(b4, t * 0x01020304u);
         u2 words = __builtin_bit_cast(u2, s4{short(t), short(t + 1), short(t * t), short(7)});
         s4 shorts = __builtin_bit_cast(s4, t * 1.5);
         out[t] = __builtin_bit_cast(unsigned, pair) * 5;
         out[32 + t] = bytes.x + bytes.w * 7;
         out[64 + t] = words.x - words.y * 3;
         out[96 + t] = unsigned(shorts.w) + unsigned(shorts.x); })",
     .block = {32}, .expected = each<unsigned>(128, [](int i) {
       unsigned t = unsigned(i % 32), word = t * 0x01020304u;
       uint64_t real = std::bit_cast<uint64_t>(t * 1.5);
       switch (i / 32) {
       case 0: return (t * 3 % 65536 | (0 - t) << 16) * 5;
       case 1: return word % 256 + (word >> 24) * 7;
       case 2: return (t | (t + 1) << 16) - (t * t | 7u << 16) * 3;
       default: return unsigned(int16_t(real >> 48)) + unsigned(int16_t(real));
       } }),
     .ways = Ways::More},
    {.name = "ShiftsByTheWidthOrMore", // T29
     .cuda = R"(__global__ void k(unsigned *out, const int *in) { int t = threadIdx.x, n = in[t]; out[t] = 1u << n;
       out[7 + t] = -8 >> n; out[14 + t] = 0xF0u >> n; })",
     .block = {7},
     .expected = listed({0u, 1u, 1u << 31, 0u, 0u, 0u, 32u, ones, unsigned(-8), ones, ones, ones, ones, ones, 0u,
         0xF0u, 0u, 0u, 0u, 0u, 0x7u}),
     .in = listed({-1, 0, 31, 32, 33, 64, 5}), .ways = Ways::More},
    {.name = "ShiftsOf64Bits",
     .cuda = R"(__global__ void k(long long *out, const int *in) { int t = threadIdx.x, n = in[t]; out[t] = 5ll << n;
       out[5 + t] = (-9ll << 40) >> n; })",
     .block = {5}, .expected = listed<long long>({5, 5ll << 33, 0, 0, 5ll << 62, -9ll << 40, -9ll << 7, -1, -1, -1}),
     .in = listed({0, 33, 64, 100, 62})},
    {.name = "ShiftsThatAllThreadsShare",
     .cuda = R"(__global__ void k(unsigned *out, const unsigned *in) { unsigned t = threadIdx.x; out[t] = t << in[0];
       out[40 + t] = (t + 1) >> in[1]; })",
     .block = {40}, .expected = all(80, 0u), .in = listed({32u, 35u}), .ways = Ways::More},
    {.name = "DivisionByZeroAndOfTheLeast",
     .cuda = R"(__global__ void k(int *out, const int *in) { int t = threadIdx.x, a = in[2 * t], b = in[2 * t + 1];
       out[t] = a / b; out[8 + t] = a % b; })",
     .block = {8},
     .expected = listed({-1, -1, least, -3, -3, 3, 0, least, 5, -7, 0, 1, -1, -1, 7, 0}),
     .in = listed({5, 0, -7, 0, least, -1, 10, -3, -10, 3, -10, -3, 7, 8, least, 1}), .ways = Ways::More},
    {.name = "UnsignedDivisionByZero",
     .cuda = R"(__global__ void k(unsigned *out, const unsigned *in) { int t = threadIdx.x;
       unsigned a = in[2 * t], b = in[2 * t + 1]; out[t] = a / b; out[4 + t] = a % b; })",
     .block = {4}, .expected = listed({ones, 1u, 0u, 0x7fffffffu, 9u, 0u, 5u, 1u}),
     .in = listed({9u, 0u, ones, ones, 5u, ones, ones, 2u}), .ways = Ways::More},
    {.name = "DivisionOf64Bits",
     .cuda = R"(__global__ void k(long long *out, const long long *in) { int t = threadIdx.x;
       long long a = in[2 * t], b = in[2 * t + 1]; out[t] = a / b; out[4 + t] = a % b;
       out[8 + t] = (unsigned long long)a / (unsigned long long)b; })",
     .block = {4},
     .expected = listed<long long>({-1, LLONG_MIN, -1234567890123, 1, 7, 0, -4, 0, -1, 0,
         (long long)((ull)-12345678901234 / 10), 1}),
     .in = listed<long long>({7, 0, LLONG_MIN, -1, -12345678901234, 10, -5, -5})},
    {.name = "DivisionOfBytesAndShorts",
     .cuda = R"(__global__ void k(int *out, const short *in) { int t = threadIdx.x; short a = in[t], b = in[t] / 7 - 3;
       signed char c = a, d = b; out[t] = b ? a / b * 1000 + a % b : 0; out[32 + t] = d ? (signed char)(c / d) : 99;
       })",
     .block = {32},
     .expected = each<int>(64, [](int i) {
       short a = short(i % 32 * 901 - 14000), b = short(a / 7 - 3);
       auto c = int8_t(a), d = int8_t(b);
       return i < 32 ? (b ? a / b * 1000 + a % b : 0) : d ? int8_t(c / d) : 99;
     }), .in = each<short>(32, [](int i) { return short(i * 901 - 14000); })},
    {.name = "EveryQuotientNearAPowerOfTwoIsExact",
     .cuda = R"(__global__ void k(unsigned *out, const unsigned *in) { int t = threadIdx.x; for (int i = 0; i < 96;
       ++i) { out[t * 96 + i] = in[t] / in[i]; } })",
     .block = {96},
     .expected = each<unsigned>(96 * 96, [](int i) {
       auto of = [](int j) { return (1u << j / 3) + unsigned(j % 3 - 1) + (j == 0); };
       return of(i / 96) / of(i % 96);
     }), .in = each<unsigned>(96, [](int j) { return (1u << j / 3) + unsigned(j % 3 - 1) + (j == 0); })},
    {.name = "SumsAndProductsWrap",
     .cuda = R"(__global__ void k(unsigned *out, const unsigned *in) { int t = threadIdx.x; unsigned v = in[t];
       out[t] = v + 0x90000000u; out[8 + t] = v * v; out[16 + t] = 3u - v; unsigned short s = v; s *= s;
       out[24 + t] = s; })",
     .block = {8},
     .expected = each<unsigned>(32, [](int i) {
       unsigned v = unsigned(i % 8) * 0x1fedcba9u;
       return i < 8 ? v + 0x90000000u : i < 16 ? v * v : i < 24 ? 3u - v : (v & 0xffff) * (v & 0xffff) & 0xffff;
     }), .in = each<unsigned>(8, [](int i) { return unsigned(i) * 0x1fedcba9u; })},
    {.name = "BitsCountedAndTurned",
     .cuda = R"(__global__ void k(unsigned *out, const unsigned *in) {
       int t = threadIdx.x; unsigned v = in[t];
       unsigned r[] = {(unsigned)__popc(v), (unsigned)__clz(v), (unsigned)__ffs(v), __brev(v),
         (unsigned)__popcll((unsigned long long)v << 20), (unsigned)__clzll(v),
         (unsigned)__ffsll((unsigned long long)v << 9)};
       for (int i = 0; i < 7; ++i) out[t * 7 + i] = r[i]; })",
     .block = {4},
     .expected = listed({0u, 32u, 0u, 0u, 0u, 64u, 0u, 1u, 31u, 1u, 0x80000000u, 1u, 63u, 10u, 1u, 0u, 32u, 1u, 1u,
         32u, 41u, 4u, 23u, 4u, 0x15800000u, 4u, 55u, 13u}),
     .in = listed({0u, 1u, 0x80000000u, 0x01a8u}), .ways = Ways::More},
    {.name = "HighHalvesOfProducts",
     .cuda = R"(__global__ void k(unsigned *out, const unsigned *in) {
       int t = threadIdx.x; unsigned v = in[t];
       out[t] = __umulhi(v, v); out[3 + t] = __mulhi((int)v, -2); out[6 + t] = __umul24(v, 3);
       out[9 + t] = __mul24(v, 3); out[12 + t] = (unsigned)__umul64hi((unsigned long long)v << 32, 6);
       out[15 + t] = __uhadd(v, ~0u); out[18 + t] = __usad(v, 5, 100); })",
     .block = {3},
     .expected = listed({0u, 0xfffffffeu, 0x40000000u, ones, 0u, 1u, 6u, 0x2fffffdu, 0u, 6u, unsigned(-3), 0u, 0u, 5u,
         3u, 0x80000000u, ones, 0xbfffffffu, 103u, 0xfffffffau + 100, 0x7ffffffbu + 100}),
     .in = listed({2u, ones, 0x80000000u})},
    {.name = "BytesPickedAndWordsFunnelled", // T35
     .cuda = R"(__global__ void k(unsigned *out, const unsigned *in) {
       int t = threadIdx.x;
       out[t] = __byte_perm(in[0], 0, 0x0123); out[32 + t] = __byte_perm(in[0], in[1], 0x5410);
       out[64 + t] = __funnelshift_l(in[0], in[1], t); out[96 + t] = __funnelshift_rc(in[0], in[1], t + 10); })",
     .block = {32},
     .expected = each<unsigned>(128, [](int i) {
       int t = i % 32;
       uint64_t both = 0xaabbccdd11223344ull;
       return i < 32 ? 0x44332211u : i < 64 ? 0xccdd3344u : i < 96 ? unsigned(both << t >> 32) : unsigned(both >> std::min(t + 10, 32));
     }), .in = listed({0x11223344u, 0xaabbccddu})},
    {.name = "MinAndMaxOfMixedTypes", // T27
     .cuda = R"(__global__ void k(double *out) {
       int t = threadIdx.x; double r[] = {(double)max(3000000000LL, 1LL), min(0.25f, 0.75f), (double)max(-3 - t * 0,
         4u), (double)min(-3, 4u), max(1.5f, 2.25), (double)min(5ull, (unsigned long long)-1), (double)abs(-5),
         (double)llabs(-(1ll << 40))};
       out[t] = r[t]; })",
     .block = {8}, .expected = listed({3e9, 0.25, 4294967293.0, 4.0, 2.25, 5.0, 5.0, 0x1p40})},
    {.name = "IntegersOf128Bits",
     .cuda = R"(__global__ void k(unsigned long long *out) { unsigned long long t = threadIdx.x;
       unsigned __int128 v = ((unsigned __int128)t << 70) + 5; v *= 3; out[2 * t] = (unsigned long long)v;
       out[2 * t + 1] = (unsigned long long)(v >> 64); })",
     .block = {10}, .expected = each<ull>(20, [](int i) { return i % 2 ? ull(i / 2) * 64 * 3 : 15ull; })},
};
SEMANTICS(Integers, integers);

const std::vector<Case> floats = {
    {.name = "NanAndInfinityInMinAndMax", // T28
     .cuda = R"(__global__ void k(float *out, const float *in) { int t = threadIdx.x;
       float a = in[2 * t], b = in[2 * t + 1]; out[t] = fmaxf(a, b); out[6 + t] = fminf(a, b);
       out[12 + t] = b < a ? b : a; })",
     .block = {6},
     .expected = listed({-infinity, -infinity, 1.f, 1.f, nan, infinity, -infinity, -infinity, 1.f, 1.f, nan, 2.f, nan,
         -infinity, nan, 1.f, nan, 2.f}),
     .in = listed({nan, -infinity, -infinity, nan, nan, 1.f, 1.f, nan, nan, nan, infinity, 2.f}), .ways = Ways::More},
    {.name = "AProductAndASumAreFused",
     .cuda = R"(__global__ void k(float *out, const float *in) { int t = threadIdx.x;
       out[t] = in[0] * in[t % 2] + in[2]; out[16 + t] = in[0] * in[0] - (1 + 0x1p-11f); })",
     .block = {16}, .expected = all(32, 0x1p-24f), .in = listed({1 + 0x1p-12f, 1 + 0x1p-12f, -1 - 0x1p-11f}),
     .ways = Ways::More},
    {.name = "AProductAndASumAreNotFusedWhereTheSourceForbids",
     .cuda = R"(__global__ void k(float *out, const float *in) { int t = threadIdx.x;
       out[t] = __fadd_rn(__fmul_rn(in[0], in[t % 2]), in[2]); out[16 + t] = __fmul_rn(in[0], in[t % 2]) + in[2];
       double a = in[t % 2] - 0x1p-12 + 0x1p-27; out[32 + t] = (float)__dadd_rn(__dmul_rn(a, a), -1 - 0x1p-26); })",
     .block = {16},
     .expected = all(48, 0.f), .in = listed({1 + 0x1p-12f, 1 + 0x1p-12f, -1 - 0x1p-11f}), .ways = Ways::More},
    {.name = "DenormalNumbersAreKept", // T40
     .cuda = R"(__global__ void k(float *out, const float *in) { int t = threadIdx.x; float v = in[t];
       out[t] = v * 0.5f; out[4 + t] = v + v; out[8 + t] = fmaxf(v, -0.0f); out[12 + t] = sqrtf(fabsf(v)) * 0 + v / 2;
       })",
     .block = {4},
     .expected = each<float>(16, [](int i) {
       float in[] = {1e-40f, 1.4e-45f, -2e-39f, 1.2e-38f}, v = in[i % 4];
       return i < 4 || i >= 12 ? v * 0.5f : i < 8 ? v + v : v > 0 ? v : -0.0f;
     }), .in = listed({1e-40f, 1.4e-45f, -2e-39f, 1.2e-38f}), .ways = Ways::More},
    // NaN gives 0, but from doubles or to 64 bits the highest bit alone (PTX, cvt).
    {.name = "FloatsToIntegersSaturate",
     .cuda = R"(__global__ void k(int *out, const float *in) { int t = threadIdx.x; out[t] = (int)in[t];
       out[8 + t] = (int)(unsigned)in[t]; })",
     .block = {8},
     .expected = [] {
       const int whole[] = {most, least, 0, 2, -2, most, least, most}, natural[] = {-1, 0, 0, 2, 0, least, 0, -1};
       return each<int>(16, [=](int i) { return i / 8 ? natural[i % 8] : whole[i % 8]; });
     }(),
     .in = listed({1e10f, -1e10f, nan, 2.9f, -2.9f, 2147483648.f, -infinity, infinity}), .ways = Ways::More},
    {.name = "FloatsTo64BitIntegersSaturate",
     .cuda = R"(__global__ void k(long long *out, const double *in) { int t = threadIdx.x; out[t] = (long long)in[t];
       out[6 + t] = (long long)(unsigned long long)in[t]; out[12 + t] = (int)in[t]; out[18 + t] = (unsigned)in[t]; })",
     .block = {6},
     .expected = listed<long long>({LLONG_MAX, LLONG_MIN, LLONG_MIN, 1ll << 53, -3, LLONG_MAX, -1, 0, LLONG_MIN,
         1ll << 53, 0, LLONG_MIN, most, least, least, most, -3, most, ones, 0, 1ll << 31, ones, 0, ones}),
     .in = listed({1e30, -1e30, (double)nan, 0x1p53, -3.9, 0x1p63})},
    {.name = "ConversionsRoundAsAsked",
     .cuda = R"(__global__ void k(int *out, const float *in) { int t = threadIdx.x; float v = in[t];
       out[t] = __float2int_rn(v); out[6 + t] = __float2int_rz(v); out[12 + t] = __float2int_ru(v);
       out[18 + t] = __float2int_rd(v); out[24 + t] = (int)rintf(v); out[30 + t] = (int)roundf(v); })",
     .block = {6},
     .expected = listed({2, 4, -2, 0, 0, 8, 2, 3, -2, 0, 0, 7, 3, 4, -2, 1, 0, 8, 2, 3, -3, 0, -1, 7, 2, 4, -2, 0, 0,
         8, 3, 4, -3, 1, -1, 8}),
     .in = listed({2.5f, 3.5f, -2.5f, 0.5f, -0.5f, 7.51f})},
    {.name = "IntegersToFloatsRound",
     .cuda = R"(__global__ void k(float *out, const int *in) { int t = threadIdx.x; out[t] = in[t];
       out[4 + t] = (unsigned)in[t]; out[8 + t] = (float)((long long)in[t] << 31);
       out[12 + t] = (float)(unsigned long long)(long long)in[t]; })",
     .block = {4},
     .expected = each<float>(16, [](int i) {
       int v[] = {16777217, -16777219, -1, most}, x = v[i % 4];
       return i < 4 ? float(x) : i < 8 ? float(unsigned(x)) : i < 12 ? float((long long)x << 31) : float(ull((long long)x));
     }), .in = listed({16777217, -16777219, -1, most})},
    {.name = "SignsOfZero",
     .cuda = R"(__global__ void k(float *out, const float *in) { int t = threadIdx.x; float z = in[t]; out[t] = 1 / z;
       out[2 + t] = z + 0.0f; out[4 + t] = -z; out[6 + t] = copysignf(3, z); out[8 + t] = signbit(z);
       out[10 + t] = z * -1; out[12 + t] = 0.0f - z; })",
     .block = {2}, .expected = listed({infinity, -infinity, 0.f, 0.f, -0.f, 0.f, 3.f, -3.f, 0.f, 1.f, -0.f, 0.f, 0.f,
         0.f}), .in = listed({0.f, -0.f}), .ways = Ways::More},
    {.name = "ComparisonsWithNan",
     .cuda = R"(__global__ void k(int *out, const float *in) { int t = threadIdx.x; float a = in[t], b = 1;
       out[t] = (a < b) + 2 * (a > b) + 4 * (a == b) + 8 * (a != b) + 16 * (a <= b) + 32 * !(a >= b) + 64 * (bool)isnan(a) + 128 * (bool)isinf(a) + 256 * (bool)isfinite(a); })",
     .block = {4}, .expected = listed({8 + 32 + 64, 4 + 16 + 256, 1 + 8 + 16 + 32 + 128, 2 + 8 + 256}),
     .in = listed({nan, 1.f, -infinity, 2.f}), .ways = Ways::More},
    {.name = "QuotientsAndRootsAreRoundedCorrectly",
     .cuda = R"(__global__ void k(float *out) { int t = threadIdx.x; float v = t + 1; out[t] = v / 3;
       out[64 + t] = sqrtf(v); out[128 + t] = __fdiv_rn(1, v); out[192 + t] = __frsqrt_rn(v * v); })",
     .block = {64}, .expected = each<float>(256,
         [](int i) { float v = float(i % 64 + 1); return i < 64 ? v / 3 : i < 128 ? std::sqrt(v) : 1 / v; }),
     .ways = Ways::More},
    {.name = "ReciprocalRootsErrByLessThanTwoUnits",
     .cuda = R"(__global__ void k(int *bad) { unsigned wrong = 0; // of every 4999th positive float, the denormal too
       for (unsigned bits = 1 + threadIdx.x; bits < 0x7f800000; bits += 64 * 4999) { float x = __uint_as_float(bits);
         double exact = 1 / sqrt((double)x), unit = ldexp(1.0, ilogb(exact) - 23); wrong += !(fabs(rsqrtf(x) - exact) <= 1.2 * unit); }
       bad[threadIdx.x] = wrong; })",
     .block = {64}, .expected = std::vector<int>(64, 0), .ways = Ways::More},
    {.name = "ReciprocalRootsOfWhatHasNone",
     .cuda = "__global__ void k(float *out, const float *in) { int t = threadIdx.x; float r = rsqrtf(in[t]); out[t] = isnan(r) ? 9 : r; }",
     .block = {5}, .expected = listed({infinity, -infinity, 0.f, 9.f, 9.f}), .in = listed({0.f, -0.f, infinity, -1.f, nan}),
     .ways = Ways::More},
    {.name = "PartsOfNumbers",
     .cuda = R"(__global__ void k(float *out, const float *in) { int t = threadIdx.x, e; float v = in[t], whole;
       out[t] = frexpf(v, &e); out[4 + t] = e; out[8 + t] = ldexpf(v, 3); out[12 + t] = modff(v, &whole);
       out[16 + t] = whole; out[20 + t] = fmodf(v, 1.5f); out[24 + t] = floorf(v) + 10 * ceilf(v) + 100 * truncf(v);
       })",
     .block = {4},
     .expected = listed({0.65625f, -0.875f, 0.f, 0.5f, 3.f, 2.f, 0.f, 1.f, 42.f, -28.f, 0.f, 8.f, 0.25f, -0.5f, 0.f,
         0.f, 5.f, -3.f, 0.f, 1.f, 0.75f, -0.5f, 0.f, 1.f, 565.f, -334.f, 0.f, 111.f}),
     .in = listed({5.25f, -3.5f, 0.f, 1.f})},
    {.name = "DoublesKeepAllTheirBits",
     .cuda = R"(__global__ void k(double *out, const double *in) { int t = threadIdx.x; out[t] = in[t] * in[t] + 1e-20;
       out[40 + t] = fma(in[t], -in[t], in[t] * in[t]); out[80 + t] = t % 2 ? in[t] / 3 : sqrt(in[t]); })",
     .block = {40},
     .expected = each<double>(120, [](int i) {
       int t = i % 40;
       double v = 1 + t * 0x1p-30;
       return i < 40 ? std::fma(v, v, 1e-20) : i < 80 ? std::fma(v, -v, v * v) : t % 2 ? v / 3 : std::sqrt(v);
     }), .in = each<double>(40, [](int t) { return 1 + t * 0x1p-30; }), .ways = Ways::More},
    {.name = "BitsOfFloats",
     .cuda = R"(__global__ void k(unsigned *out, const float *in) { int t = threadIdx.x;
       out[t] = __float_as_uint(in[t]) ^ 0x80000000u;
       out[3 + t] = __float_as_uint(__uint_as_float(__float_as_uint(in[t]) + 1));
       out[6 + t] = __double2hiint((double)in[t]); })",
     .block = {3}, .expected = listed({0xbf800000u, 0x40000000u, 0x80000001u, 0x3f800001u, 0xc0000001u, 2u,
         0x3ff00000u, 0xc0000000u, 0x36a00000u}), .in = listed({1.f, -2.f, 0x1p-149f})},
    {.name = "SaturationToOne", .cuda = R"(__global__ void k(float *out, const float *in) { int t = threadIdx.x;
       out[t] = __saturatef(in[t]); })",
     .block = {5}, .expected = listed({0.f, 1.f, 0.25f, 0.f, 1.f}), .in = listed({-3.f, 7.f, 0.25f, nan, infinity})},
};
SEMANTICS(Floats, floats);

const std::string halves = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n";
const std::vector<Case> small = {
    {.name = "Bfloat16RoundsToTheNearest", // T31
     .cuda = halves + R"(__global__ void k(unsigned *out, const float *in) { int t = threadIdx.x;
       __nv_bfloat16 b = __float2bfloat16(in[t]); out[t] = __bfloat16_as_ushort(b);
       out[5 + t] = __float_as_uint(__bfloat162float(b)) & 0x7fc00000u; })",
     .block = {5}, .expected = listed({0x3E8Au, 0x3F80u, 0x3F82u, 0x7F80u, 0x7FFFu, 0x3E800000u, 0x3F800000u,
         0x3F800000u, 0x7F800000u, 0x7FC00000u}),
     .in = listed({0x3E89CCD5u, 0x3F808000u, 0x3F818000u, 0x7F7FFFFFu, 0x7FC00000u}), .ways = Ways::More},
    {.name = "HalvesRoundedTowardsZero", // T33
     .cuda = halves + R"(__global__ void k(unsigned *out, const unsigned *in) { int t = threadIdx.x;
       out[t] = __half_as_ushort(__float2half_rz(__uint_as_float(in[t])));
       out[7 + t] = __half_as_ushort(__float2half_rn(__uint_as_float(in[t]))); })",
     .block = {7}, .expected = listed({0x0AC3u, 0x0AC4u, 0x0AC3u, 0x8AC3u, 0x8AC4u, 0x8AC3u, 0x7BFFu, 0x0AC4u, 0x0AC4u,
         0x0AC4u, 0x8AC4u, 0x8AC4u, 0x8AC4u, 0x7BFFu}),
     .in = listed({0x39587FFFu, 0x39588000u, 0x39587000u, 0xB9587FFFu, 0xB9588000u, 0xB9587000u,
         std::bit_cast<unsigned>(65519.9f)}), .ways = Ways::More},
    {.name = "MaximumOfHalves", // T34
     .cuda = halves + R"(__global__ void k(unsigned *out, const unsigned *in) { int t = threadIdx.x;
       auto h = [&](int i) { return __ushort_as_half((unsigned short)in[i]); };
       out[t] = __half_as_ushort(__hmax(h(t), h(6 + t)));
       __half2 m = __hmax2(__half2(h(t), h(6 + t)), __half2(h(6 + t), h(t)));
       out[6 + t] = __half_as_ushort(__low2half(m)); out[12 + t] = __half_as_ushort(__hmin(h(t), h(6 + t))); })",
     .block = {6},
     .expected = listed({0x4000u, 0x4200u, 0u, 1u, 0x3C00u, 0x3C00u, 0x4000u, 0x4200u, 0u, 1u, 0x3C00u, 0x3C00u,
         0xBC00u, 0xC400u, 0x8000u, 0u, 0x3C00u, 0x3C00u}),
     .in = listed({0xBC00u, 0x4200u, 0x8000u, 1u, 0x7E00u, 0x3C00u, 0x4000u, 0xC400u, 0u, 0u, 0x3C00u, 0x7E00u}),
     .ways = Ways::More},
    {.name = "SumsAndProductsOfHalves",
     .cuda = halves + R"(__global__ void k(float *out, const float *in) { int t = threadIdx.x;
       __half a = __float2half(in[t]), b = __float2half(0.1f); out[t] = __half2float(a + b);
       out[40 + t] = __half2float(__hfma(a, b, a)); out[80 + t] = __half2float(a / b); out[120 + t] = a > b; })",
     .block = {40},
     .expected = each<float>(160, [](int i) {
       float a = float(_Float16(float(i % 40) * 0.37f)), b = float(_Float16(0.1f));
       return i < 40 ? float(_Float16(a + b)) : i < 80 ? float(_Float16(double(a) * b + a)) : i < 120 ? float(_Float16(a / b)) : float(a > b);
     }), .in = each<float>(40, [](int t) { return float(t) * 0.37f; }), .ways = Ways::More},
    {.name = "SmallHalvesAreNotFlushed",
     .cuda = halves + R"(__global__ void k(unsigned *out) { int t = threadIdx.x;
       __half h = __float2half(6e-8f * (t + 1)); out[t] = __half_as_ushort(h); out[8 + t] = __half_as_ushort(h + h);
       })",
     .block = {8}, .expected = each<unsigned>(16, [](int i) { return unsigned(i % 8 + 1) * (i < 8 ? 1 : 2); })},
    {.name = "PairsOfHalvesInMemory",
     .cuda = halves + R"(__global__ void k(__half2 *out, const __half2 *in) { int t = threadIdx.x;
       out[t] = __hmul2(in[t], __float2half2_rn(2)) + __half2(__high2half(in[t]), __low2half(in[t])); })",
     .block = {33}, .expected = each<_Float16>(66, [](int i) { return _Float16(float(3 * i + (i % 2 ? -1 : 1))); }),
     .in = each<_Float16>(66, [](int i) { return _Float16(float(i)); }), .ways = Ways::More},
    {.name = "Bfloat16InASum",
     .cuda = halves + R"(__global__ void k(float *out, const __nv_bfloat16 *in) { int t = threadIdx.x; float s = 0;
       for (int i = 0; i < 4; ++i) s += __bfloat162float(in[t * 4 + i]); __nv_bfloat16 r = in[t] * in[t]; out[t] = s;
       out[16 + t] = __bfloat162float(r); })",
     .block = {16},
     .expected = each<float>(32, [](int i) {
       auto of = [](int j) { return float(j % 11) * 0.5f; };
       int t = i % 16;
       return i < 16 ? of(4 * t) + of(4 * t + 1) + of(4 * t + 2) + of(4 * t + 3) : of(t) * of(t);
     }), .in = each<uint16_t>(64, [](int i) { return uint16_t(std::bit_cast<uint32_t>(float(i % 11) * 0.5f) >> 16); })},
};
SEMANTICS(SmallFloats, small);

} // namespace
} // namespace opsight::lower
