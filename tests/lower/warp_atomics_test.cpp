// Atomics and fences on the warp machine: of a block and of a grid, in every type and operation that CUDA has.
#include "lower/semantic_case.h"
#include <bit>

namespace opsight::lower {
namespace {

using ull = unsigned long long;

const std::vector<Case> atomics = {
    {.name = "AddOfInt", .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x; atomicAdd(out, t - 100);
       atomicAdd(&out[1 + t % 5], blockIdx.x); })",
     .block = {100}, .grid = {4}, .expected = each<int>(6, [](int i) { return i ? 120 : 4 * (4950 - 10000); }),
     .ways = Ways::More},
    {.name = "AddOfUnsignedWraps", .cuda = R"(__global__ void k(unsigned *out) { atomicAdd(out, 0x40000001u); })",
     .block = {40}, .expected = listed({40u})},
    {.name = "AddOfUnsignedLongLong", .cuda = R"(__global__ void k(unsigned long long *out) {
       atomicAdd(out, 0x100000001ull * threadIdx.x); })",
     .block = {64}, .expected = listed<ull>({0x100000001ull * 2016})},
    {.name = "AddOfFloat", .cuda = R"(__global__ void k(float *out) { atomicAdd(out + threadIdx.x % 2, 0.5f); })",
     .block = {70}, .grid = {8}, .expected = listed({140.f, 140.f})},
    {.name = "AddOfDouble", .cuda = R"(__global__ void k(double *out) { atomicAdd(out, 0x1p-40 + threadIdx.x); })",
     .block = {64}, .expected = listed({2016 + 0x1p-34})},
    {.name = "AddReturnsWhatWasThere",
     .cuda = R"(__global__ void k(int *out) { int at = atomicAdd(out, 1); out[1 + at] = 1; })",
     .block = {96}, .grid = {3}, .expected = each<int>(289, [](int i) { return i ? 1 : 288; }), .ways = Ways::More},
    {.name = "AddInABranch",
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x; if (t % 3 == 1) atomicAdd(out, t);
       else if (t > 50) atomicAdd(out + 1, 1); })",
     .block = {64}, .expected = listed({21 * (1 + 61) / 2, 9})},
    {.name = "ALoopWhoseFirstExchangeStandsBeforeIt", // whose result, a structure, meets that of the loop's
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x;
       unsigned *word = (unsigned *)out + t % 3, seen = *word, old = atomicCAS(word, seen, seen + t);
       while (old != seen) {
         seen = old;
         old = atomicCAS(word, seen, seen + t);
       } })",
     .block = {60}, .grid = {5}, .expected = each<int>(3, [](int i) { return 5 * (20 * i + 570); }), .ways = Ways::More},
    {.name = "SubOfIntAndUnsigned",
     .cuda = R"(__global__ void k(int *out) { atomicSub(out, threadIdx.x); atomicSub((unsigned *)out + 1, 2u); })",
     .block = {40}, .expected = listed({-780, -80})},
    {.name = "MinAndMaxOfInt",
     .cuda = R"(__global__ void k(int *out) { int v = (int)threadIdx.x * 7 % 50 - 30; atomicMin(out, v);
       atomicMax(out + 1, v); })",
     .block = {50}, .expected = listed({-30, 19}), .before = listed({5, -100})},
    {.name = "MinAndMaxOfUnsigned",
     .cuda = R"(__global__ void k(unsigned *out) { unsigned v = 0x80000000u - 20 + threadIdx.x; atomicMin(out, v);
       atomicMax(out + 1, v); })",
     .block = {40}, .expected = listed({0x80000000u - 20, 0x80000000u + 19}), .before = listed({~0u, 0u})},
    {.name = "MinAndMaxOf64Bits",
     .cuda = R"(__global__ void k(long long *out) {
       long long v = ((long long)threadIdx.x - 20) << 33;
       atomicMin(out, v); atomicMax(out + 1, v); atomicMin((unsigned long long *)out + 2, (unsigned long long)v);
       atomicMax((unsigned long long *)out + 3, (unsigned long long)v); })",
     .block = {40}, .expected = listed<long long>({-20ll << 33, 19ll << 33, 0, -1ll << 33}),
     .before = listed<long long>({0, 0, 5, 0})},
    {.name = "AndOrXor",
     .cuda = R"(__global__ void k(unsigned *out) { unsigned bit = 1u << threadIdx.x % 32;
       atomicAnd(out, ~(bit & 0x0f0f0f0fu)); atomicOr(out + 1, bit & 0xff00ff00u); atomicXor(out + 2, bit); })",
     .block = {35}, .expected = listed({0xf0f0f0f0u, 0xff00ff00u, 0xfffffff8u}), .before = listed({~0u, 0u, 0u})},
    {.name = "AndOrXorOf64Bits",
     .cuda = R"(__global__ void k(unsigned long long *out) { unsigned long long bit = 1ull << threadIdx.x;
       atomicAnd(out, ~bit); atomicOr(out + 1, bit); atomicXor(out + 2, bit | 1); })",
     .block = {40}, .expected = listed<ull>({~0ull << 40, ~(~0ull << 40), ~(~0ull << 40) - 1}),
     .before = listed<ull>({~0ull, 0, 0})},
    {.name = "ExchangePassesEachValueOnOnce",
     .cuda = R"(__global__ void k(int *out) { int old = atomicExch(out, threadIdx.x + 1); atomicAdd(out + 1, old);
       __syncthreads(); if (threadIdx.x == 0) { out[0] += out[1]; out[1] = 0; } })",
     .block = {64}, .expected = listed({2080, 0}), .ways = Ways::More},
    {.name = "ExchangeOfFloatAnd64Bits",
     .cuda = R"(__global__ void k(double *out) { if (threadIdx.x == 3) { float f = atomicExch((float *)out, 2.5f);
       unsigned long long u = atomicExch((unsigned long long *)out + 1, 0x4000000000000000ull); out[2] = f + u; } })",
     .block = {32}, .expected = listed({std::bit_cast<double>(0x40200000ull), 2.0, 0.0})},
    {.name = "CompareAndSwapOnceOnly",
     .cuda = R"(__global__ void k(int *out) { if (atomicCAS(out, -1, 7) == -1) atomicAdd(out + 1, 1);
       if (atomicCAS((unsigned long long *)out + 1, 0ull, 1ull << 40) == 0) atomicAdd(out + 1, 100); })",
     .block = {96}, .grid = {2}, .expected = listed({7, 101, 0, 256}), .before = listed({-1, 0, 0, 0})},
    {.name = "ALoopOfCompareAndSwap",
     .cuda = R"(__global__ void k(float *out) {
       int *at = (int *)out, old = *at, seen;
       do { seen = old; old = atomicCAS(at, seen, __float_as_int(__int_as_float(seen) + 1.0f)); } while (old != seen);
       })",
     .block = {100}, .grid = {5}, .expected = listed({500.f}), .ways = Ways::More},
    {.name = "MaximumOfFloatsByTheirBits", // T30
     .cuda = R"(__device__ void atomic_max(float *p, float v) {
       if (__float_as_int(v) >= 0) atomicMax((int *)p, __float_as_int(v));
       else atomicMin((unsigned *)p, __float_as_uint(v)); }
       __global__ void k(float *out, const float *in) { int t = threadIdx.x; atomic_max(out + t / 3, in[t]); })",
     .block = {9}, .expected = listed({-0.0f, -1.0f, 2.0f}),
     .in = listed({-0.0f, -5.f, -5.f, -1.f, -4.f, -4.f, -3.f, 2.f, -7.f}),
     .before = all(3, -3.402823466e38f)},
    {.name = "IncrementStartsAnewBehindItsLimit",
     .cuda = R"(__global__ void k(unsigned *out) { unsigned old = atomicInc(out, 6); atomicAdd(out + 1 + old, 1); })",
     .block = {70}, .expected = listed({0u, 10u, 10u, 10u, 10u, 10u, 10u, 10u}), .ways = Ways::More},
    {.name = "DecrementStartsAnewBelowZeroOrAboveItsLimit",
     .cuda = R"(__global__ void k(unsigned *out) { unsigned old = atomicDec(out, 4);
       if (old < 5) atomicAdd(out + 1 + old, 1); })",
     .block = {51}, .expected = listed({4u, 10u, 10u, 10u, 10u, 10u}), .before = listed({9u, 0u, 0u, 0u, 0u, 0u})},
    {.name = "OfABlockOrOfTheSystem",
     .cuda = R"(__global__ void k(int *out) { atomicAdd_block(out, 1); atomicAdd_system(out + 1, 2);
       atomicMax_block(out + 2, (int)threadIdx.x); atomicCAS_system(out + 3, 0, 7); })",
     .block = {64}, .expected = listed({64, 128, 63, 7})},
    {.name = "InSharedMemory",
     .cuda = R"(__global__ void k(int *out) {
       __shared__ int s[8]; __shared__ float f; __shared__ double d; __shared__ unsigned long long u;
       int t = threadIdx.x;
       if (t < 8) s[t] = 0;
       if (t == 0) { f = 0; d = 0; u = 0; }
       __syncthreads();
       atomicAdd(&s[t % 4], t); atomicMax(&s[4], t); atomicOr(&s[5], 1 << t % 32); atomicExch(&s[6], 5);
       atomicCAS(&s[7], 0, t + 1);
       atomicAdd(&f, 0.5f); atomicAdd(&d, 0.25); atomicAdd(&u, 1ull << 32);
       __syncthreads();
       if (t < 8) out[blockIdx.x * 8 + t] = t == 7 ? (int)(f + d) + (int)(u >> 32) + (s[7] != 0) : s[t]; })",
     .block = {96}, .grid = {2},
     .expected = each<int>(16, [](int i) { int r[] = {1104, 1128, 1152, 1176, 95, -1, 5,
         72 + 96 + 1}; return r[i % 8]; }), .ways = Ways::More},
    {.name = "AHistogramOfOneBin", // T15
     .cuda = R"(__global__ void k(int *out, const int *in) {
       __shared__ int bins[8];
       if (threadIdx.x < 8) bins[threadIdx.x] = 0;
       __syncthreads();
       for (int i = threadIdx.x; i < 512; i += 256) atomicAdd(&bins[in[i]], 1);
       __syncthreads();
       if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x]; })",
     .block = {256}, .expected = listed({0, 0, 512, 0, 0, 0, 0, 0}), .in = all(512, 2)},
    {.name = "AHistogramWithManyConflicts",
     .cuda = R"(__global__ void k(int *out) { for (int i = threadIdx.x; i < 1000;
       i += 96) atomicAdd(&out[i * i % 11], 1); })",
     .block = {96}, .grid = {2},
     .expected = each<int>(11, [](int bin) { int n = 0; for (int i = 0; i < 1000; ++i) n += i * i % 11 == bin; return 2 * n; })},
    {.name = "HalvesAndPairsOfThem",
     .cuda = R"(#include <cuda_fp16.h>
       __global__ void k(float *out) {
         __shared__ __half h; __shared__ __half2 p;
         if (threadIdx.x == 0) { h = __float2half(0); p = __floats2half2_rn(0, 1); }
         __syncthreads();
         atomicAdd(&h, __float2half(0.5f)); atomicAdd(&p, __floats2half2_rn(1, 2));
         __syncthreads();
         if (threadIdx.x == 0) { out[0] = __half2float(h); out[1] = __low2float(p); out[2] = __high2float(p); } })",
     .block = {40}, .expected = listed({20.f, 40.f, 81.f})},
    {.name = "TheLastBlockAddsUp", // T16
     .cuda = R"(__device__ unsigned done = 0;
       __global__ void k(int *out) {
         __shared__ int sum; __shared__ bool last;
         int t = threadIdx.x;
         if (t == 0) sum = 0;
         __syncthreads();
         atomicAdd(&sum, 1);
         __syncthreads();
         if (t == 0) { out[1 + blockIdx.x] = sum; __threadfence();
       last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1; }
         __syncthreads();
         if (last) for (int i = t; i < gridDim.x; i += 256) atomicAdd(out, out[1 + i]); })",
     .block = {256}, .grid = {128}, .expected = each<int>(129, [](int i) { return i ? 256 : 32768; })},
    {.name = "FencesOfEveryScope",
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x; out[t] = t; __threadfence_block(); out[t] += 1;
       __threadfence(); if (t & 1) { __threadfence_system(); out[t] += 1; } })",
     .block = {40}, .expected = each<int>(40, [](int t) { return t + 1 + (t & 1); })},
};
SEMANTICS(Atomics, atomics);

} // namespace
} // namespace opsight::lower
