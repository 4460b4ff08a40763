// Memory on the warp machine: whatever pattern a warp's addresses make, each thread reads and writes its own, and nothing
// beyond. Buffers lie between pages that may not be touched, so rows that end in the middle of a vector prove that, too.
#include "lower/semantic_case.h"
#include <bit>

namespace opsight::lower {
namespace {

Values counted(size_t n) { return each<float>(n, [](int i) { return float(i); }); }

const std::vector<Case> patterns = {
    {.name = "CopiesThatEndWithinAVector",
     .cuda = R"(__global__ void k(float *out, const float *in) { int i = blockIdx.x * 64 + threadIdx.x;
       if (i < 203) out[i] = in[i] + 1; })",
     .block = {64}, .grid = {4}, .expected = each<float>(203, [](int i) { return float(i + 1); }), .in = counted(203),
     .ways = Ways::More},
    {.name = "Reversed", .cuda = R"(__global__ void k(float *out, const float *in) {
       out[69 - threadIdx.x] = in[99 - threadIdx.x]; })",
     .block = {70}, .expected = each<float>(70, [](int i) { return float(i + 30); }), .in = counted(100),
     .ways = Ways::More},
    {.name = "EverySecondAndEveryThird",
     .cuda = R"(__global__ void k(float *out, const float *in) { int t = threadIdx.x; out[2 * t + 1] = in[3 * t]; })",
     .block = {50}, .expected = each<float>(100, [](int i) { return i % 2 ? float(i / 2 * 3) : 0.f; }),
     .in = counted(148), .ways = Ways::More},
    {.name = "AnUnsignedIndexThatWrapsForThreadsThatAreAbsent",
     .cuda = R"(__global__ void k(float *out, const float *in, unsigned start) { unsigned i = threadIdx.x + start;
       if (i < 59) out[i] = in[i] * 2; })",
     .block = {64}, .expected = each<float>(59, [](int i) { return float(2 * i); }), .in = counted(59),
     .scalar = listed({0u - 5u}), .ways = Ways::More},
    {.name = "DotProductsOfRowsAndTheirRests",
     .cuda = R"(__global__ void k(float *out, const float *in, int n) { int t = threadIdx.x; float sum = 0;
       for (int d = 0; d < n; ++d) sum += in[t * 7 + d] * float(d + 1);
       out[t] = sum; })",
     .block = {40}, .expected = each<float>(40, [](int t) {
       float sum = 0;
       for (int d = 0; d < 7; ++d)
         sum += float((t * 7 + d) % 11) * float(d + 1);
       return sum;
     }), .in = each<float>(280, [](int i) { return float(i % 11); }), .scalar = listed({7}), .ways = Ways::More},
    {.name = "RowsOfSharedMemoryOfDifferentColumns",
     .cuda = R"(__global__ void k(int *out, const int *in) { __shared__ int s[64][17];
       int t = threadIdx.x; for (int d = 0; d < 16; ++d) s[t][15 - d] = in[16 * t + d];
       __syncthreads();
       int sum = 0; for (int d = 0; d < 16; ++d) sum = sum * 3 + s[63 - t][d];
       out[t] = sum; })",
     .block = {64}, .expected = each<int>(64, [](int t) {
       unsigned sum = 0;
       for (unsigned d = 0; d < 16; ++d)
         sum = sum * 3 + (16 * unsigned(63 - t) + 15 - d) % 5;
       return int(sum);
     }), .in = each<int>(1024, [](int i) { return i % 5; }), .ways = Ways::More},
    {.name = "RowsThatAreWrittenInPlace",
     .cuda = R"(__global__ void k(float *out, const float *in, int n) { int t = threadIdx.x; float *o = out + t * n;
       for (int d = 0; d < n; ++d) o[d] = in[t * n + d];
       for (int j = 0; j < 5; ++j) for (int d = 0; d < n; ++d) o[d] += float(j) * in[j * n + d]; })",
     .block = {48}, .expected = each<float>(48 * 7, [](int i) {
       float sum = float(i % 11);
       for (int j = 0; j < 5; ++j)
         sum += float(j) * float((j * 7 + i % 7) % 11);
       return sum;
     }), .in = each<float>(48 * 7, [](int i) { return float(i % 11); }), .scalar = listed({7}), .ways = Ways::More},
    {.name = "RowsThatAreWrittenBehindWhatIsReadOfThem", // no two of its steps may change places
     .cuda = R"(__device__ void add(float *to, const float *from, int n) { for (int d = 0; d < n; ++d) to[d] += from[d]; }
       __global__ void k(float *out, int n) { int t = threadIdx.x; float *o = out + t * 11;
       for (int d = 0; d < 11; ++d) o[d] = 1;
       add(o + 1, o, n); add(o, o + 1, n); })",
     .block = {32}, .expected = each<float>(32 * 11, [](int i) {
       float row[11] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
       for (int d = 0; d < 10; ++d)
         row[d + 1] += row[d];
       for (int d = 0; d < 10; ++d)
         row[d] += row[d + 1];
       return row[i % 11];
     }), .scalar = listed({10}), .ways = Ways::More},
    {.name = "AddressesByACommonBranch",
     .cuda = R"(__global__ void k(float *out, const float *in, int which) { int t = threadIdx.x;
       float v = which ? in[t] : 1; int i = which ? 63 - t / 32 * 32 - 31 + t % 32 : t; out[which ? i : i] = v; })",
     .block = {64}, .expected = each<float>(64, [](int i) { return float((i + 32) % 64); }), .in = counted(64),
     .scalar = listed({1}), .ways = Ways::More},
    {.name = "RowsOfATileByBroadcast",
     .cuda = R"(__global__ void k(float *out, const float *in) { int t = threadIdx.x;
       out[t] = in[t / 4] * 100 + in[t % 4]; })",
     .block = {64}, .expected = each<float>(64, [](int t) { return float(t / 4 * 100 + t % 4); }), .in = counted(16),
     .ways = Ways::More},
    {.name = "PairsOfFloats", .cuda = R"(__global__ void k(float2 *out, const float2 *in) { int t = threadIdx.x;
       float2 v = in[t]; out[t] = make_float2(v.y, v.x + 1); })",
     .block = {45}, .expected = each<float>(90, [](int i) { return float(i % 2 ? i : i + 1); }), .in = counted(90),
     .ways = Ways::More},
    {.name = "FoursOfFloats", .cuda = R"(__global__ void k(float4 *out, const float4 *in) { int t = threadIdx.x;
       float4 v = in[t]; v.x += 1; v.z *= 2; if (t < 37) out[t] = v; })",
     .block = {39}, .expected = each<float>(148,
         [](int i) { return float(i % 4 == 0 ? i + 1 : i % 4 == 2 ? 2 * i : i); }), .in = counted(156),
     .ways = Ways::More},
    {.name = "FoursOfFloatsBackwards", .cuda = R"(__global__ void k(float4 *out, const float *in) {
       int t = threadIdx.x; out[31 - t] = ((const float4 *)in)[t]; })",
     .block = {32}, .expected = each<float>(128, [](int i) { return float((31 - i / 4) * 4 + i % 4); }),
     .in = counted(128)},
    {.name = "PairsOfDoubles", .cuda = R"(__global__ void k(double2 *out, const double2 *in) { int t = threadIdx.x;
       double2 v = in[t]; out[t] = {v.y, v.x}; })",
     .block = {33}, .expected = each<double>(66, [](int i) { return double(i ^ 1); }),
     .in = each<double>(66, [](int i) { return double(i); })},
    {.name = "FoursOfBytesAndPairsOfShorts",
     .cuda = R"(__global__ void k(unsigned char *out, const unsigned char *in) {
       int t = threadIdx.x; uchar4 v = ((const uchar4 *)in)[t]; short2 s = ((const short2 *)in)[t];
       ((uchar4 *)out)[t] = make_uchar4(v.w, v.z, v.y + s.x / 256 * 0, v.x); })",
     .block = {20}, .expected = each<uint8_t>(80, [](int i) { return uint8_t(i ^ 3); }),
     .in = each<uint8_t>(80, [](int i) { return uint8_t(i); })},
    {.name = "BytesSideBySideAndApart",
     .cuda = R"(__global__ void k(signed char *out, const signed char *in) { int t = threadIdx.x;
       out[t] = in[t * 3] + in[t]; })",
     .block = {60}, .expected = each<int8_t>(60, [](int t) { return int8_t(int8_t(t * 9) + int8_t(t * 3)); }),
     .in = each<int8_t>(180, [](int i) { return int8_t(3 * i); }), .ways = Ways::More},
    {.name = "LongIntegersEightBytesApart",
     .cuda = R"(__global__ void k(long long *out, const long long *in) { int t = threadIdx.x; out[t * 2] = in[t] << 33;
       if (t < 20) out[t * 2 + 1] = in[39 - t]; })",
     .block = {40}, .expected = each<long long>(80,
         [](int i) { return i % 2 ? (i < 40 ? 39ll - i / 2 : 0) : (long long)(i / 2) << 33; }),
     .in = each<long long>(40, [](int i) { return (long long)i; })},
    {.name = "Booleans", .cuda = R"(__global__ void k(bool *out, const bool *in) { int t = threadIdx.x;
       out[t] = in[t] != in[(t + 1) % 50]; })",
     .block = {50}, .expected = each<uint8_t>(50,
         [](int t) { return uint8_t((t % 3 == 0) != ((t + 1) % 50 % 3 == 0)); }),
     .in = each<uint8_t>(50, [](int t) { return uint8_t(t % 3 == 0); })},
    {.name = "ATransposeThroughSharedMemory",
     .cuda = R"(__global__ void k(float *out, const float *in) {
       __shared__ float s[32][33];
       int x = threadIdx.x, y = threadIdx.y;
       for (int j = 0; j < 32; j += 8) s[y + j][x] = in[(y + j) * 32 + x];
       __syncthreads();
       for (int j = 0; j < 32; j += 8) out[(y + j) * 32 + x] = s[x][y + j]; })",
     .block = {32, 8}, .expected = each<float>(1024, [](int i) { return float(i % 32 * 32 + i / 32); }),
     .in = counted(1024), .ways = Ways::More},
    {.name = "ATransposeWithSwappedBits",
     .cuda = R"(__global__ void k(float *out, const float *in) {
       __shared__ float s[16][16];
       int x = threadIdx.x, y = threadIdx.y;
       s[y][x ^ y] = in[y * 16 + x];
       __syncthreads();
       out[y * 16 + x] = s[x][y ^ x]; })",
     .block = {16, 16}, .expected = each<float>(256, [](int i) { return float(i % 16 * 16 + i / 16); }),
     .in = counted(256)},
    {.name = "AGatherByATable", .cuda = R"(__global__ void k(int *out, const int *in) { int t = threadIdx.x;
       out[t] = in[64 + in[t]]; })",
     .block = {60}, .expected = each<int>(60, [](int t) { return 1000 + t * 7 % 30; }),
     .in = each<int>(94, [](int i) { return i < 64 ? i * 7 % 30 : 1000 + i - 64; })},
    {.name = "AScatterOfTheSameValueToOnePlace", .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x;
       out[t / 5] = t / 5 + 1; out[20 + t * t % 16] = 7; })",
     .block = {64},
     .expected = each<int>(36, [](int i) { return i < 13 ? i + 1 : i == 20 || i == 21 || i == 24 || i == 29 ? 7 : 0; }), .ways = Ways::More},
    {.name = "OneOfTheValuesWrittenToOnePlaceStays",
     .cuda = R"(__global__ void k(int *out) { __shared__ int s; int t = threadIdx.x; s = t; __syncthreads();
       out[t] = s >= 0 && s < 40; })",
     .block = {40}, .expected = all(40, 1), .ways = Ways::More},
    {.name = "AnUnsignedIndexThatWraps",
     .cuda = R"(__global__ void k(int *out, const int *in) { unsigned i = threadIdx.x - 5u;
       out[threadIdx.x] = i < 40u ? in[i] : -1; })",
     .block = {64}, .expected = each<int>(64, [](int t) { return t >= 5 && t < 45 ? t - 5 : -1; }),
     .in = each<int>(40, [](int i) { return i; }), .ways = Ways::More},
    {.name = "AnUnsignedSumThatWrapsForSomeLanes",
     .cuda = R"(__global__ void k(int *out, const unsigned *in) { unsigned i = in[0] + threadIdx.x;
       out[threadIdx.x] = i < 64u ? in[1 + i] : 7; })",
     .block = {48}, .expected = each<int>(48, [](int t) { return t < 10 ? 7 : 100 + t - 10; }),
     .in = each<unsigned>(65, [](int i) { return i ? 99u + unsigned(i) : ~0u - 9; }), .ways = Ways::More},
    {.name = "AnUnsignedProductThatWraps",
     .cuda = R"(__global__ void k(int *out, const unsigned *in) {
       unsigned t = threadIdx.x, i = (t * in[0] + in[1]) >> 27; out[t] = in[2 + i]; })",
     .block = {64}, .expected = each<int>(64,
         [](int t) { return 50 + int((unsigned(t) * 0x9E3779B9u + 0xF0000000u) >> 27); }),
     .in = each<unsigned>(34, [](int i) { return i == 0 ? 0x9E3779B9u : i == 1 ? 0xF0000000u : 48u + unsigned(i); })},
    {.name = "BytesAndShortsAsIndicesThatWrap",
     .cuda = R"(__global__ void k(int *out, const int *in) {
       int t = threadIdx.x; unsigned char c = t * 5 + in[256]; unsigned short s = t + 65516;
       out[t] = in[c] * 1000 + (s < 256 ? in[s] : 999); })",
     .block = {100},
     .expected = each<int>(100, [](int t) { int s = (t + 65516) & 65535; return ((t * 5 + 200) & 255) * 1000 + (s < 256 ? s : 999); }),
     .in = each<int>(257, [](int i) { return i < 256 ? i : 200; }), .ways = Ways::More},
    {.name = "ASignedIndexBelowZero",
     .cuda = R"(__global__ void k(int *out, const int *in) { int t = threadIdx.x; const int *p = in + 50;
       out[t] = p[t - 50] + p[-(t % 8)]; })",
     .block = {64}, .expected = each<int>(64, [](int t) { return t + 50 - t % 8; }),
     .in = each<int>(64, [](int i) { return i; })},
    {.name = "WideIndices",
     .cuda = R"(__global__ void k(int *out, const long long *in) { long long i = (1ll << 33) + threadIdx.x;
       out[i - (1ll << 33)] = (int)in[(size_t)threadIdx.x * 2 % 33]; })",
     .block = {40}, .expected = each<int>(40, [](int t) { return 2 * t % 33; }),
     .in = each<long long>(33, [](int i) { return (long long)i; })},
    {.name = "ThreeDimensionsOfBlockAndGrid",
     .cuda = R"(__global__ void k(int *out) {
       int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
         z = blockIdx.z * blockDim.z + threadIdx.z;
       out[(z * (gridDim.y * blockDim.y) + y) * (gridDim.x * blockDim.x) + x] = x + 100 * y + 10000 * z; })",
     .block = {3, 5, 2}, .grid = {4, 2, 3},
     .expected = each<int>(720, [](int i) { return i % 12 + 100 * (i / 12 % 10) + 10000 * (i / 120); }),
     .ways = Ways::More},
    {.name = "ABlockOf7By9Threads", .cuda = R"(__global__ void k(float *out, const float *in) {
       int x = threadIdx.x, y = threadIdx.y; out[x * 9 + y] = in[y * 7 + x]; })",
     .block = {7, 9}, .expected = each<float>(63, [](int i) { return float(i % 9 * 7 + i / 9); }), .in = counted(63),
     .ways = Ways::More},
};
SEMANTICS(Patterns, patterns);

const std::vector<Case> kinds = {
    {.name = "VectorsOfOneValueAndTurnedAround", // what the optimiser makes of them is one operation on a whole vector
     .cuda = R"(typedef int v4 __attribute__((ext_vector_type(4)));
     __global__ void k(int4 *out, const int *in) {
       __shared__ v4 s[32]; int t = threadIdx.x;
       s[t] = (v4)(in[t]); __syncthreads();
       v4 a = s[31 - t], b = ((v4 *)in)[t];
       v4 c = (a + b.wzyx) ^ 5; c = b > 20 ? c : -c;
       out[t] = make_int4(c.x, c.y, c.z, c.w); })",
     .block = {32}, .expected = each<int>(128, [](int i) {
       int t = i / 4, c = (31 - t + 4 * t + 3 - i % 4) ^ 5;
       return i > 20 ? c : -c;
     }), .in = each<int>(128, [](int i) { return i; }), .ways = Ways::More},
    {.name = "LocalArraysReadAtEachLanesOwnIndex",
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x, a[16]; for (int i = 0; i < 16;
       ++i) a[i] = i * i + t; a[t % 16] = -t; out[t] = a[t * 3 % 16] + a[(t + 5) % 16]; })",
     .block = {50},
     .expected = each<int>(50, [](int t) { auto a = [&](int i) { return i == t % 16 ? -t : i * i + t; }; return a(t * 3 % 16) + a((t + 5) % 16); }),
     .ways = Ways::More},
    {.name = "LocalArraysOfBytesInTwoDimensions",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x; unsigned char a[5][7];
       for (int i = 0; i < 5; ++i) for (int j = 0; j < 7; ++j) a[i][j] = t + 40 * i + j;
       int s = 0; for (int i = t % 5; i < 5; ++i) s += a[i][(t + i) % 7];
       out[t] = s; })",
     .block = {40},
     .expected = each<int>(40, [](int t) { int s = 0; for (int i = t % 5; i < 5; ++i) s += (t + 40 * i + (t + i) % 7) & 255; return s; })},
    {.name = "LocalArraysReadInTwoWidths",
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x; union { double d[4]; unsigned w[8]; }
       u = {{1.5, t * 1.0, 0.25, -1}}; out[t] = (int)u.w[2 * (t % 4) + 1]; })",
     .block = {32},
     .expected = each<int>(32, [](int t) { double d[] = {1.5, double(t), 0.25,
         -1}; return int(std::bit_cast<uint64_t>(d[t % 4]) >> 32); }), .ways = Ways::More},
    {.name = "LocalStructuresAndPointersToThem",
     .cuda = R"(struct P { float x; int n; char c; };
       __device__ void step(P *p, int k) { p->x += k; p->n -= 1; p->c ^= 1; }
       __global__ void k(float *out) { int t = threadIdx.x; P a[3] = {{1, 10, 0}, {2, 20, 1}, {3, 30, 0}};
       P *p = &a[t % 3]; for (int i = 0; i < t % 4; ++i) step(p, i); out[t] = a[0].x + a[1].n + a[2].c + p->x * 100;
       })",
     .block = {36},
     .expected = each<float>(36, [](int t) {
       float x[] = {1, 2, 3}; int n = 20, c = 0;
       for (int i = 0; i < t % 4; ++i) { x[t % 3] += float(i); if (t % 3 == 1) --n; if (t % 3 == 2) c ^= 1; }
       return x[0] + float(n) + float(c) + x[t % 3] * 100;
     })},
    {.name = "AStackPerThread",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, stack[32], top = 0, leaves = 0;
       stack[top++] = t % 10;
       while (top) { int n = stack[--top]; if (n < 2) ++leaves; else { stack[top++] = n - 1; stack[top++] = n - 2; } }
       out[t] = leaves; })",
     .block = {40}, .expected = each<int>(40, [](int t) { int a = 1,
         b = 1; for (int i = 0; i < t % 10; ++i) { int c = a + b; a = b; b = c; } return a; }), .ways = Ways::More},
    {.name = "StructuresByValue", // T25
     .cuda = R"(struct S { char a; float4 v; int b; double d; short s[3]; };
       __global__ void k(double *out, S s) { int t = threadIdx.x;
       double r[] = {(double)s.a, s.v.x, s.v.w, (double)s.b, s.d, (double)s.s[t % 3]}; out[t] = r[t % 6]; })",
     .block = {48}, .expected = each<double>(48, [](int t) { double r[] = {7, 1.5, 4.5, -9, 0.125,
         double(10 * (t % 3 + 1))}; return r[t % 6]; }),
     .scalar = [] {
       struct alignas(16) V { float x = 1.5, y = 2.5, z = 3.5, w = 4.5; };
       struct S { char a = 7; V v; int b = -9; double d = 0.125; short s[3] = {10, 20, 30}; };
       return Values(std::vector<S>(1));
     }()},
    {.name = "ArraysOfStructures",
     .cuda = R"(struct P { float x; int n; double d; };
       __global__ void k(P *out, const P *in) { int t = threadIdx.x; P p = in[t]; p.x += 1; p.d *= p.n; out[t] = p; })",
     .block = {35},
     .expected = each<double>(70, [](int i) {
       int t = i / 2;
       return i % 2 ? 0.5 * t * t : std::bit_cast<double>(uint64_t(std::bit_cast<uint32_t>(float(t + 1))) | uint64_t(t) << 32);
     }),
     .in = each<double>(70, [](int i) {
       int t = i / 2;
       return i % 2 ? 0.5 * t : std::bit_cast<double>(uint64_t(std::bit_cast<uint32_t>(float(t))) | uint64_t(t) << 32);
     })},
    {.name = "DynamicSharedMemoryOfEveryType", // T18
     .cuda = R"(extern __shared__ float4 area[];
       template <class T> __device__ void turn(T *s, T v) { __syncthreads(); s[threadIdx.x] = v; __syncthreads(); }
       __global__ void k(double *out) {
         int t = threadIdx.x; double sum = 0;
         turn((char *)area, (char)t); sum += ((char *)area)[39 - t]; turn((double *)area, t * 0.5);
       sum += ((double *)area)[39 - t];
         turn(area, make_float4(t, 1, 2, 3)); sum += area[39 - t].x + area[t].w; out[t] = sum; })",
     .block = {40}, .expected = each<double>(40, [](int t) { return 2.5 * (39 - t) + 3; }), .shared = 640,
     .ways = Ways::More},
    {.name = "StaticAndDynamicSharedMemoryApart", // T19
     .cuda = R"(extern __shared__ float b[];
       __global__ void k(float *out) {
         __shared__ int a[16]; __shared__ char first; __shared__ double4 c[8];
         int t = threadIdx.x;
         if (t < 16) a[t] = t; if (t < 8) c[t] = {1, 2, 3, (double)t}; if (t == 9) first = 5; b[t] = -t;
         __syncthreads();
         out[t] = a[t % 16] + b[t] * 100 + c[t % 8].w * 10000 + first; })",
     .block = {32}, .expected = each<float>(32, [](int t) { return float(t % 16 - t * 100 + t % 8 * 10000 + 5); }),
     .shared = 128},
    {.name = "MuchDynamicSharedMemory", // T17
     .cuda = R"(extern __shared__ int s[]; __global__ void k(int *out) { for (int i = threadIdx.x; i < 12292;
       i += 256) s[i] = i; __syncthreads(); for (int i = threadIdx.x; i < 12292; i += 256) out[i] = s[12291 - i]; })",
     .block = {256}, .expected = each<int>(12292, [](int i) { return 12291 - i; }), .shared = 48 * 1024 + 16},
    {.name = "ConstantsReadAtEachLanesOwnIndex",
     .cuda = R"(__constant__ float table[8] = {1, 2, 4, 8, 16, 32, 64, 128}; struct C { int a; float b; };
       __constant__ C c = {3, 0.5f};
       static const int primes[5] = {2, 3, 5, 7, 11};
       __global__ void k(float *out) { int t = threadIdx.x; out[t] = table[t % 8] + c.a * c.b + primes[t % 5] * 1000;
       })",
     .block = {40}, .expected = each<float>(40, [](int t) { int p[] = {2, 3, 5, 7,
         11}; return float(1 << t % 8) + 1.5f + float(p[t % 5] * 1000); }), .ways = Ways::More},
    {.name = "TemplatesOfConstants", // T23
     .cuda = R"(template <class T> __constant__ T mask[3] = {1, 2, 1};
       template <> __constant__ double mask<double>[3] = {1, 0, -1};
       template <class T> __device__ T filter(const double *in, int i) { T s = 0; for (int j = 0; j < 3;
       ++j) s += mask<T>[j] * (T)in[i + j]; return s; }
       __global__ void k(double *out, const double *in) { int t = threadIdx.x;
       out[t] = filter<float>(in, t) * 100 + filter<double>(in, t); })",
     .block = {30}, .expected = each<double>(30, [](int t) { return 400.0 * (t + 1) - 2; }),
     .in = each<double>(32, [](int i) { return double(i); })},
    {.name = "DeviceVariables",
     .cuda = R"(__device__ int counter = 5; __device__ float table[40]; __device__ int *where;
       __global__ void k(int *out) { int t = threadIdx.x; table[t] = t * 2; if (t == 0) where = out; __syncthreads();
       where[1 + t] = (int)table[39 - t]; if (atomicAdd(&counter, 1) == 44) out[0] = 1; })",
     .block = {40}, .expected = each<int>(41, [](int i) { return i ? 2 * (40 - i) : 1; })},
    {.name = "OneFunctionOverEveryMemory", // T21
     .cuda = R"(__device__ float sum4(const float *p) { return p[0] + p[1] + p[2] + p[3]; }
       __global__ void k(float *out, const float *in) {
         __shared__ float s[64];
         int t = threadIdx.x; float own[4] = {1.f * t, 2, 3, 4};
         s[t] = t;
         __syncthreads();
         const float *p = t % 3 == 0 ? in + t : t % 3 == 1 ? s + t % 8 : own;
         out[t] = sum4(in + t) + sum4(s + t / 4) * 100 + sum4(own) * 10000 + sum4(p); })",
     .block = {64},
     .expected = each<float>(64, [](int t) {
       auto four = [](int first) { return float(4 * first + 6); };
       float own = float(t + 9);
       return four(t) + four(t / 4) * 100 + own * 10000 + (t % 3 == 0 ? four(t) : t % 3 == 1 ? four(t % 8) : own);
     }), .in = counted(68), .ways = Ways::More},
    {.name = "CopiesAndFillsOfMemory",
     .cuda = R"(struct B { int v[6]; };
       __global__ void k(int *out, const int *in) { int t = threadIdx.x; B b; memset(&b, 0xff, sizeof b);
       memcpy(b.v + 1, in + t, 12); out[t] = b.v[0] + b.v[1] * 10 + b.v[3] * 100 + b.v[5]; })",
     .block = {40}, .expected = each<int>(40, [](int t) { return -2 + 10 * t + 100 * (t + 2); }),
     .in = each<int>(42, [](int i) { return i; })},
    {.name = "VolatileAccessesHappenEachTime",
     .cuda = R"(__global__ void k(volatile int *out) { int t = threadIdx.x; out[t] = 1; out[t] = out[t] + out[t];
       if (t & 1) out[t] = out[t] * 10 + t; })",
     .block = {40}, .expected = each<int>(40, [](int t) { return t & 1 ? 20 + t : 2; }), .ways = Ways::More},
};
SEMANTICS(Memories, kinds);

} // namespace
} // namespace opsight::lower
