// What one thread computes, on real OpenCL drivers: memory of every kind, mathematics, conversions, parameters.
#include "lower/opencl_run.h"
#include <cmath>
#include <limits>

namespace opsight::lower {
namespace {

class SpirvValues : public OnOpenCl {};
INSTANTIATE_TEST_SUITE_P(Drivers, SpirvValues, everywhere(), whereName);

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

TEST_P(SpirvValues, OneFunctionTakesGlobalSharedAndStackPointers) {
  auto *in = buffer(std::vector<float>{1, 2, 3, 4}), *out = buffer(std::vector<float>(32, 0));
  run({R"(__device__ float sum4(const float *p) { return p[0] + p[1] + p[2] + p[3]; }
          __global__ void spaces(const float *in, float *out) {
            __shared__ float s[4]; float own[4];
            int t = threadIdx.x;
            if (t < 4) s[t] = 10.0f * in[t];
            for (int i = 0; i < 4; ++i) own[(i + t) % 4] = 100.0f * t;
            __syncthreads();
            out[t] = sum4(in) + sum4(s) + sum4(own); })"},
      {.block = {32, 1, 1}}, {in, out});
  for (int t = 0; t < 32; ++t)
    EXPECT_EQ(contents<float>(out)[t], 110.0f + 400.0f * t);
}

TEST_P(SpirvValues, APointerMayBeChosenAtRunTime) {
  auto *in = buffer(std::vector<float>{1, 2, 3, 4}), *out = buffer(std::vector<float>(4, 0));
  run({R"(__global__ void choose(const float *in, float *out) {
            __shared__ float s[4];
            int t = threadIdx.x; s[t] = 10 + t; __syncthreads();
            const float *p = in[t] > 2.5f ? in : s;
            out[t] = p[t]; })"},
      {.block = {4, 1, 1}}, {in, out});
  EXPECT_EQ(contents<float>(out), (std::vector<float>{10, 11, 3, 4}));
}

TEST_P(SpirvValues, ConstantAndDeviceVariablesHoldTheirFirstContent) {
  auto *out = buffer(std::vector<float>(4, 0));
  run({R"(__constant__ float table[4] = {1, 2, 3, 4};
          __device__ int calls = 5;
          template <class T> __constant__ T weight = T(1.5);
          __global__ void read(float *out) {
            static constexpr short small[4] = {10, 20, 30, 40};
            int t = threadIdx.x;
            out[t] = table[t] + small[3 - t] + calls + weight<float>; })"},
      {.block = {4, 1, 1}}, {out});
  EXPECT_EQ(contents<float>(out), (std::vector<float>{47.5f, 38.5f, 29.5f, 20.5f}));
}

TEST_P(SpirvValues, AStructByValueArrivesWithItsPadding) {
  struct alignas(16) Mixed {
    char c;
    alignas(16) float f[4];
    int i;
    double d;
    short s[3];
  } mixed{7, {1, 2, 3, 4}, 11, 2.5, {5, 6, 8}};
  auto *out = buffer(std::vector<float>(1, 0));
  run({R"(struct Mixed { char c; float4 f; int i; double d; short s[3]; };
          __global__ void echo(Mixed m, float *out, int n) {
            out[0] = m.c + 10 * m.f.w + 100 * m.i + (float)m.d + 1000 * m.s[n]; })"},
      {}, {scalar(mixed), out, scalar(2)});
  EXPECT_EQ(contents<float>(out)[0], 7 + 40 + 1100 + 2.5f + 8000);
}

TEST_P(SpirvValues, AStructMayCarryPointers) {
  struct Matrix {
    uint64_t ignored;
    int rows, columns;
  } matrix{0, 3, 4};
  auto *out = buffer(std::vector<int>(1, 0));
  run({R"(struct Matrix { float *data; int rows, columns; };
          __global__ void size(Matrix m, int *out, bool twice) { out[0] = m.rows * m.columns * (twice ? 2 : 1); })"},
      {}, {scalar(matrix), out, scalar(true)});
  EXPECT_EQ(contents<int>(out)[0], 24);
}

TEST_P(SpirvValues, VectorLoadsMoveFourFloats) {
  auto *in = buffer(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}), *out = buffer(std::vector<float>(8, 0));
  run({R"(__global__ void twice(const float4 *in, float4 *out) {
            float4 v = in[threadIdx.x];
            out[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x); })"},
      {.block = {2, 1, 1}}, {in, out});
  EXPECT_EQ(contents<float>(out), (std::vector<float>{4, 3, 2, 1, 8, 7, 6, 5}));
}

TEST_P(SpirvValues, ShiftsByTheWidthAndMoreGiveZeroOrTheSign) {
  auto *counts = buffer(std::vector<int>{-1, 0, 31, 32, 33, 64}), *out = buffer(std::vector<int>(18, 7));
  run({R"(__global__ void shift(const int *n, int *out) {
            int t = threadIdx.x;
            out[t] = 1 << n[t]; out[6 + t] = -8 >> n[t]; out[12 + t] = 0xF0u >> n[t]; })"},
      {.block = {6, 1, 1}}, {counts, out});
  EXPECT_EQ(contents<int>(out), (std::vector<int>{0, 1, INT32_MIN, 0, 0, 0,
                                                  -1, -8, -1, -1, -1, -1,
                                                  0, 0xF0, 0, 0, 0, 0}));
}

TEST_P(SpirvValues, FloatsThatDoNotFitAnIntegerSaturateAndNanIsZero) {
  std::vector<float> x{1e10f, -1e10f, nan, infinity, -infinity, -1.5f, 300.0f, 2147483520.0f};
  auto *in = buffer(x);
  auto *words = buffer(std::vector<int>(8, 7)), *naturals = buffer(std::vector<int>(8, 7));
  auto *wide = buffer(std::vector<int64_t>(8, 7)), *bytes = buffer(std::vector<unsigned char>(8, 7));
  run({R"(__global__ void cast(const float *x, int *i, unsigned *u, long long *l, unsigned char *c) {
            int t = threadIdx.x;
            i[t] = (int)x[t]; u[t] = (unsigned)x[t]; l[t] = (long long)(x[t] * 1e10f); c[t] = (unsigned char)x[t]; })"},
      {.block = {8, 1, 1}}, {in, words, naturals, wide, bytes});
  EXPECT_EQ(contents<int>(words), (std::vector<int>{INT32_MAX, INT32_MIN, 0, INT32_MAX, INT32_MIN, -1, 300, 2147483520}));
  EXPECT_EQ(contents<unsigned>(naturals), (std::vector<unsigned>{UINT32_MAX, 0, 0, UINT32_MAX, 0, 0, 300, 2147483520}));
  std::vector<int64_t> got = contents<int64_t>(wide);
  EXPECT_EQ(got[0], INT64_MAX);
  EXPECT_EQ(got[1], INT64_MIN);
  EXPECT_EQ(got[2], INT64_MIN);
  EXPECT_EQ(got[5], -15000000512); // the nearest float
  EXPECT_EQ(contents<unsigned char>(bytes), (std::vector<unsigned char>{255, 0, 0, 255, 0, 0, 44, 128}));
}

TEST_P(SpirvValues, SumsThatOverflowAreNoticed) {
  std::vector<unsigned> x{1, 0xFFFFFFFF, 0x80000000, 0}, y{2, 1, 0x80000000, 0};
  auto *a = buffer(x), *b = buffer(y), *out = buffer(std::vector<unsigned>(16, 7));
  run({R"(__global__ void sums(const unsigned *a, const unsigned *b, unsigned *o) {
            int t = threadIdx.x;
            unsigned sum = a[t] + b[t]; o[t] = sum; o[4 + t] = sum < a[t];
            unsigned p; o[8 + t] = __builtin_mul_overflow(a[t], b[t], &p); o[12 + t] = __builtin_elementwise_sub_sat(a[t], b[t]); })"},
      {.block = {4, 1, 1}}, {a, b, out});
  EXPECT_EQ(contents<unsigned>(out), (std::vector<unsigned>{3, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0xFFFFFFFE, 0, 0}));
}

TEST_P(SpirvValues, MinimumAndMaximumDropNan) {
  auto *a = buffer(std::vector<float>{nan, -infinity, nan, 1, -3});
  auto *b = buffer(std::vector<float>{-infinity, nan, 1, nan, 2});
  auto *out = buffer(std::vector<float>(10, 7));
  run({R"(__global__ void extremes(const float *a, const float *b, float *out) {
            int t = threadIdx.x; out[t] = fmaxf(a[t], b[t]); out[5 + t] = fminf(a[t], b[t]); })"},
      {.block = {5, 1, 1}}, {a, b, out});
  EXPECT_EQ(contents<float>(out), (std::vector<float>{-infinity, -infinity, 1, 1, 2, -infinity, -infinity, 1, 1, -3}));
}

TEST_P(SpirvValues, OverloadsOfMinimumAndMaximumKeepTheirTypes) {
  auto *out = buffer(std::vector<double>(5, 0));
  if (!session->info().hasDouble)
    GTEST_SKIP() << "no double on " << GetParam().card;
  run({R"(__global__ void overloads(double *out, long long big, unsigned four) {
            out[0] = max(big, 1LL); out[1] = min(0.25f, 0.75f); out[2] = max(-3, four); out[3] = min(-3, four);
            out[4] = max(1.5f, 2.25); })"},
      {}, {out, scalar(3000000000LL), scalar(4u)});
  EXPECT_EQ(contents<double>(out), (std::vector<double>{3000000000.0, 0.25, 4294967293.0, 4, 2.25}));
}

TEST_P(SpirvValues, DivisionAndSquareRootRoundCorrectly) {
  std::vector<float> x, y;
  for (int i = 0; i < 1024; ++i) {
    x.push_back(std::ldexp(1.0f + float(i * 7919 % 1024) / 1024.0f, i % 60 - 30));
    y.push_back(1.0f + float(i * 104729 % 4096) / 4096.0f);
  }
  auto *a = buffer(x), *b = buffer(y), *out = buffer(std::vector<float>(2048, 0));
  run({R"(__global__ void divide(const float *a, const float *b, float *out) {
            int t = blockIdx.x * 256 + threadIdx.x; out[t] = a[t] / b[t]; out[1024 + t] = sqrtf(a[t]); })"},
      {.grid = {4, 1, 1}, .block = {256, 1, 1}}, {a, b, out});
  std::vector<float> got = contents<float>(out);
  for (int i = 0; i < 1024; ++i) {
    EXPECT_EQ(got[i], x[i] / y[i]) << x[i] << " / " << y[i];
    EXPECT_EQ(got[1024 + i], std::sqrt(x[i])) << x[i];
  }
}

TEST_P(SpirvValues, MultiplyAndAddFuseUnlessAskedNotTo) {
  auto *out = buffer(std::vector<float>(2, 0));
  const float a = 1.0f + 0x1p-12f; // a² = 1 + 2⁻¹¹ + 2⁻²⁴: the last term is lost where the product is rounded
  run({R"(__global__ void fuse(float a, float b, float c, float *out) {
            out[0] = a * a + c; out[1] = __fadd_rn(__fmul_rn(b, b), c); })"},
      {}, {scalar(a), scalar(a), scalar(-1.0f), out});
  EXPECT_EQ(contents<float>(out)[0], 0x1p-11f + 0x1p-24f);
  EXPECT_EQ(contents<float>(out)[1], 0x1p-11f);
}

TEST_P(SpirvValues, DenormalsAreKept) {
  auto *out = buffer(std::vector<float>(1, 0));
  run({"__global__ void halve(float x, float *out) { out[0] = x * 0.5f; }"}, {}, {scalar(1e-40f), out});
  EXPECT_EQ(contents<float>(out)[0], 5e-41f);
}

TEST_P(SpirvValues, MathematicsIsNearDoublePrecision) {
  auto *out = buffer(std::vector<float>(24, 0));
  const float x = 0.7f, y = 2.3f;
  run({R"(__global__ void math(float x, float y, float *o) {
            o[0] = expf(x); o[1] = exp2f(x); o[2] = exp10f(x); o[3] = logf(x); o[4] = log2f(x); o[5] = log10f(x);
            o[6] = powf(x, y); o[7] = sinf(x); o[8] = cosf(y); o[9] = tanf(x); o[10] = atan2f(x, y); o[11] = tanhf(x);
            o[12] = erff(x); o[13] = erfcf(x); o[14] = cbrtf(x); o[15] = expm1f(x); o[16] = log1pf(x); o[17] = hypotf(x, y);
            o[18] = lgammaf(y); o[19] = rsqrtf(x); o[20] = __expf(x); o[21] = __fdividef(x, y); o[22] = fmodf(y, x);
            int e; o[23] = frexpf(y, &e) + e; })"},
      {}, {scalar(x), scalar(y), out});
  const double p = x, q = y;
  const double want[] = {std::exp(p), std::exp2(p), std::pow(10, p), std::log(p), std::log2(p), std::log10(p),
                         std::pow(p, q), std::sin(p), std::cos(q), std::tan(p), std::atan2(p, q), std::tanh(p),
                         std::erf(p), std::erfc(p), std::cbrt(p), std::expm1(p), std::log1p(p), std::hypot(p, q),
                         std::lgamma(q), 1 / std::sqrt(p), std::exp(p), p / q, std::fmod(q, p), q / 4 + 2};
  std::vector<float> got = contents<float>(out);
  for (int i = 0; i < 24; ++i)
    EXPECT_NEAR(got[i], want[i], 4e-7 * std::max(1.0, std::abs(want[i]))) << "function " << i;
}

TEST_P(SpirvValues, BitFunctions) {
  auto *out = buffer(std::vector<unsigned>(10, 7));
  run({R"(__global__ void bits(unsigned x, unsigned zero, unsigned long long w, unsigned *o) {
            o[0] = __popc(x); o[1] = __clz(x); o[2] = __ffs(x); o[3] = __brev(x); o[4] = __clz(zero); o[5] = __ffs(zero);
            o[6] = __popcll(w); o[7] = __clzll(w); o[8] = __funnelshift_l(x, x, 8); o[9] = __byte_perm(x, 0, 0x0123); })"},
      {}, {scalar(0x11223344u), scalar(0u), scalar(uint64_t(1) << 40), out});
  EXPECT_EQ(contents<unsigned>(out),
            (std::vector<unsigned>{10, 3, 3, 0x22CC4488, 32, 0, 1, 23, 0x22334411, 0x44332211}));
}

TEST_P(SpirvValues, WideIntegersDivideAndOddLoopsCount) {
  auto *out = buffer(std::vector<int64_t>(3, 0));
  run({R"(__global__ void wide(long long a, long long b, int n, long long *out) {
            out[0] = a / b; out[1] = a % b;
            unsigned sum = 0; for (unsigned i = 0; i < n; ++i) sum += i * i; // LLVM closes this by 33-bit arithmetic
            out[2] = sum; })"},
      {}, {scalar(-10000000000LL), scalar(7LL), scalar(1000), out});
  EXPECT_EQ(contents<int64_t>(out), (std::vector<int64_t>{-10000000000 / 7, -10000000000 % 7, 332833500}));
}

TEST_P(SpirvValues, HalfPrecisionConvertsAndAdds) {
  auto *out = buffer(std::vector<float>(2, 0));
  Text text{R"(#include <cuda_fp16.h>
               __global__ void halves(float x, float *out) {
                 __half h = __float2half(x); out[0] = __half2float(__hadd(h, h)); out[1] = __half2float(h); })"};
  run(text, {}, {scalar(1.0009765625f), out});
  EXPECT_EQ(contents<float>(out), (std::vector<float>{2.001953125f, 1.0009765625f}));
}

TEST_P(SpirvValues, HalvesArriveInEveryKindOfMemory) {
  struct Weights {
    int scale;
    uint16_t bias[3]; // 1, 2, 3 as halves
  } weights{10, {0x3C00, 0x4000, 0x4200}};
  auto *in = buffer(std::vector<uint16_t>{0x3C00, 0x4000, 0x4200, 0x4400}), *out = buffer(std::vector<float>(4, 0));
  run({R"(#include <cuda_fp16.h>
          struct Weights { int scale; __half bias[3]; };
          __constant__ _Float16 table[4] = {0.5, 0.25, -0.125, 1};
          __device__ _Float16 offset = 100;
          __global__ void k(const __half *in, Weights w, __half last, float *out) {
            __shared__ __half tile[4];
            __half own[4];
            static constexpr _Float16 small[4] = {8, 7, 6, 5};
            int t = threadIdx.x;
            tile[t] = in[t];
            for (int i = 0; i < 4; ++i) own[(i + t) % 4] = __half(i);
            __syncthreads();
            out[t] = float(tile[3 - t]) + 10 * float(own[0]) + w.scale * float(w.bias[t % 3]) + float(table[t]) + float(offset)
                     + 1000 * float(last) + float(small[t]); })"},
      {.block = {4, 1, 1}}, {in, scalar(weights), scalar(uint16_t(0x4000)), out});
  const float table[] = {0.5f, 0.25f, -0.125f, 1};
  for (int t = 0; t < 4; ++t)
    EXPECT_EQ(contents<float>(out)[t],
              float(4 - t) + 10 * float((4 - t) % 4) + 10 * float(1 + t % 3) + table[t] + 100 + 2000 + float(8 - t));
}

TEST_P(SpirvValues, AtomicSumsOfHalvesAndPairsLoseNothing) {
  auto *sums = buffer(std::vector<uint16_t>(4, 0)), *seen = buffer(std::vector<float>(64, -1));
  run({R"(#include <cuda_fp16.h>
          __global__ void k(__half *sums, float *seen) {
            seen[threadIdx.x] = float(atomicAdd(sums + 1, __half(1)));
            atomicAdd((__half2 *)(sums + 2), __half2(__half(1), __half(-0.5))); })"},
      {.block = {64, 1, 1}}, {sums, seen});
  EXPECT_EQ(contents<uint16_t>(sums), (std::vector<uint16_t>{0, 0x5400, 0x5400, 0xD000})); // 0, 64, 64, -32
  std::vector<float> old = contents<float>(seen);
  std::ranges::sort(old);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(old[i], float(i)); // each thread saw another
}

TEST_P(SpirvValues, ADeadEndInABranchLeavesTheOthersRight) {
  auto *out = buffer(std::vector<int>(72, -1));
  run({R"(__device__ void never(int t) { if (t > 1000) __trap(); }
          __global__ void mod(int *out) {
            int t = threadIdx.x; if (t % 36 == 0) never(t);
            __syncthreads(); out[t] = t % 36; })"},
      {.block = {72, 1, 1}}, {out});
  for (int t = 0; t < 72; ++t)
    EXPECT_EQ(contents<int>(out)[t], t % 36);
}

TEST_P(SpirvValues, PrintfAndAssertReachTheHost) {
  card::Launched printed = launch({R"(__global__ void hello(int n) { printf("%.1f and %d\n", 1.5, n); })"}, {}, {scalar(-7)});
  EXPECT_EQ(printed.printed, "1.5 and -7\n") << printed.detail;
  card::Launched failed = launch({R"(#include <cassert>
                                     __global__ void check(int n) { assert(threadIdx.x < n); })"},
                                 {.block = {64, 1, 1}}, {scalar(32)});
  EXPECT_EQ(failed.end, card::Launched::End::Assert) << failed.detail;
  EXPECT_NE(failed.detail.find("threadIdx.x < n"), std::string::npos) << failed.detail;
}

TEST_P(SpirvValues, StructCopiesAndMemsetMoveEveryByte) {
  auto *out = buffer(std::vector<int>(16, -1));
  run({R"(struct Big { int v[16]; };
          __global__ void copy(Big *out, int n) {
            __shared__ Big s; Big own; memset(&own, 0, sizeof own); own.v[n] = 5; s = own; *out = s; })"},
      {}, {out, scalar(3)});
  std::vector<int> want(16, 0);
  want[3] = 5;
  EXPECT_EQ(contents<int>(out), want);
}

} // namespace
} // namespace opsight::lower
