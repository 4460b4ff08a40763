// Barriers on the warp machine: who counts at one, what memory shows behind it, and that who does not come is told.
#include "lower/semantic_case.h"
#include <array>

namespace opsight::lower {
namespace {

using End = card::Launched::End;

const std::vector<Case> barriers = {
    {.name = "ARoundMoreForEachWarp", // trip counts that differ between warps; who has returned counts no more
     .cuda = R"(__global__ void k(int *out) { int w = threadIdx.x / 32; for (int i = 0; i <= w;
       ++i) out[threadIdx.x * 4 + i] = __syncthreads_count(1); })",
     .block = {128},
     .expected = each<int>(512, [](int i) { int w = i / 128,
         round = i % 4; return round <= w ? 128 - 32 * round : 0; }),
     .ways = Ways::More},
    {.name = "ThreadsThatReturnedBefore", // T10
     .cuda = R"(__global__ void k(float *out) {
       __shared__ float s[256];
       int t = threadIdx.x, i = blockIdx.x * 256 + t;
       if (i >= 1000) return;
       s[t] = 1;
       __syncthreads();
       if (t == 0) { float sum = 0; for (int j = 0; j < 256 && blockIdx.x * 256 + j < 1000; ++j) sum += s[j];
       out[blockIdx.x] = sum; } })",
     .block = {256}, .grid = {4}, .expected = listed({256.f, 256.f, 256.f, 232.f}), .ways = Ways::More},
    {.name = "ThreadsThatReturnedAfterAStore",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x;
       if (t % 3 == 0) { out[t] = -1; return; }
       int n = __syncthreads_count(t & 1);
       out[t] = n; })",
     .block = {60}, .expected = each<int>(60, [](int t) { return t % 3 ? 20 : -1; }), .ways = Ways::More},
    {.name = "ThreadsThatReadAndReturn", // what they read is from before the barrier that they do not come to
     .cuda = R"(__global__ void k(int *out) { __shared__ int s[64]; int t = threadIdx.x; s[t] = 5 * t; __syncthreads();
       if (t & 1) { out[t] = s[t ^ 6]; return; }
       __syncthreads(); s[t] = s[t + 1] = 1000; __syncthreads(); out[t] = s[t ^ 7]; })",
     .block = {64}, .expected = each<int>(64, [](int t) { return t & 1 ? 5 * (t ^ 6) : 1000; }), .ways = Ways::More},
    {.name = "ThreadsThatWriteAndReturn", // what they wrote is there behind the barrier that they do not come to
     .cuda = R"(__global__ void k(int *out) { __shared__ int s[64]; int t = threadIdx.x; s[t] = -1; __syncthreads();
       if (t % 4) { s[t] = 3 * t; return; }
       __syncthreads(); out[t] = s[t + 1] + s[t + 2] + s[t + 3]; })",
     .block = {64}, .expected = each<int>(64, [](int t) { return t % 4 ? 0 : 9 * t + 18; }), .ways = Ways::More},
    {.name = "ThreadsThatReturnBehindALoopOfTheirOwn",
     .cuda = R"(__global__ void k(int *out) { __shared__ int s[64]; int t = threadIdx.x; s[t] = t; __syncthreads();
       if (t % 3 == 0) { int sum = 0; for (int i = 0; i <= t % 7; ++i) sum += s[(t + i) % 64]; out[t] = sum; return; }
       __syncthreads(); s[t] = 100; __syncthreads(); out[t] = s[t] + s[0]; })",
     .block = {64}, .expected = each<int>(64, [](int t) {
       int sum = 0;
       for (int i = 0; i <= t % 7; ++i) sum += (t + i) % 64;
       return t % 3 ? 100 : sum;
     }), .ways = Ways::More},
    {.name = "ThreadsThatReturnByTheSameEnd", // which all come by, some before the barrier
     .cuda = R"(__global__ void k(int *out, const int *in) { __shared__ int s[64]; int t = threadIdx.x; s[t] = in[t]; __syncthreads();
       int add = 7;
       if (t % 5 != 2) { __syncthreads(); s[t] = 500; s[t / 5 * 5 + 2] = 500; __syncthreads(); add = 1; }
       out[t] = s[t] + add; })",
     .block = {60}, .expected = each<int>(60, [](int t) { return t % 5 == 2 ? 2 * t + 7 : 501; }),
     .in = each<int>(64, [](int i) { return 2 * i; }), .ways = Ways::More},
    {.name = "ThreadsThatReturnFromInnerLoops",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, sum = 0;
       for (int i = 0; i < 4; ++i)
         for (int j = 0; j < 3; ++j) {
           sum += __syncthreads_count(1);
           if (t % 4 == i) { out[t] = sum; return; }
         }
       out[t] = -1; })",
     .block = {32}, .expected = each<int>(32, [](int t) { return std::array{32, 104, 152, 176}[size_t(t % 4)]; }),
     .ways = Ways::More},
    {.name = "ThreadsThatReturnFromASwitch",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x;
       switch (t % 5) { case 1: out[t] = -1; return; case 3: return; default: break; }
       out[t] = __syncthreads_count(1); })",
     .block = {60}, .expected = each<int>(60, [](int t) { return t % 5 == 1 ? -1 : t % 5 == 3 ? 0 : 36; }),
     .ways = Ways::More},
    {.name = "ThreadsThatReturnInALoop",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x;
       for (int i = 0; i < 8; ++i) { if (t < i * 9) return; out[t] = __syncthreads_count(1) * 10 + i; } })",
     .block = {70}, .expected = each<int>(70, [](int t) { int i = std::min(t / 9, 7); return (70 - 9 * i) * 10 + i; }),
     .ways = Ways::More},
    {.name = "WholeWarpsThatReturned",
     .cuda = R"(__global__ void k(int *out) {
       __shared__ int s[128];
       int t = threadIdx.x;
       s[t] = t;
       if (t / 32 == 1) return;
       __syncthreads();
       out[t] = s[t ^ 64]; })",
     .block = {128}, .expected = each<int>(128, [](int t) { return t / 32 == 1 ? 0 : t / 32 == 3 ? t - 64 : t ^ 64; })},
    {.name = "VotesOfABlockCountThoseThatAreThere",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x;
       if (t >= 70) return;
       out[t * 4] = __syncthreads_count(t % 7 == 0);
       out[t * 4 + 1] = __syncthreads_and(t < 70);
       out[t * 4 + 2] = __syncthreads_and(t != 69);
       out[t * 4 + 3] = __syncthreads_or(t == 69) * 2 + __syncthreads_or(t > 69); })",
     .block = {75}, .expected = each<int>(280, [](int i) { int r[] = {10, 1, 0, 2}; return r[i % 4]; }),
     .ways = Ways::More},
    {.name = "ABarrierThatOnlySomeLanesReachIsAFault",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x;
       if (t & 1) __syncthreads();
       out[t] = 1;
       __syncthreads();
       out[t] += 1; })",
     .block = {64}, .expected = all(64, 0), .end = End::Barrier, .says = "only part of the threads of a warp",
     .ways = Ways::More},
    {.name = "ABarrierInALoopThatLanesLeaveApartIsAFault",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x;
       for (int i = 0; i < t % 4; ++i) { out[t] += i; __syncthreads(); }
       __syncthreads();
       out[t] += 1; })",
     .block = {64}, .expected = all(64, 0), .end = End::Barrier, .says = "only part of the threads of a warp"},
    {.name = "WarpsAtTwoBarriersAreAFault",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x;
       if (t < 64) { out[t] = 1; __syncthreads(); out[t] = 2; } else { out[t] = 3; __syncthreads(); out[t] = 4; }
       __syncthreads();
       out[t] += 1; })",
     .block = {128}, .expected = all(128, 0), .end = End::Barrier, .says = "two different places"},
    {.name = "ConditionsAllShareInNestedLoops", // T12
     .cuda = R"(struct F { int a, b; };
       __global__ void k(int *out, F f) {
         __shared__ int s;
         if (threadIdx.x == 0) s = 0;
         for (int i = 0; i < 3; ++i) for (int j = 0; j < 4; ++j) {
           if (f.a) __syncthreads();
           if (threadIdx.x == 0) { out[i * 4 + j] += 1; s += 1; }
           if (f.b) __syncthreads();
         }
         __syncthreads();
         if (threadIdx.x == 37) out[12] = s; })",
     .block = {64}, .expected = each<int>(13, [](int i) { return i == 12 ? 12 : 1; }), .scalar = listed({1, 0})},
    {.name = "AFlagBetweenTwoBarriers", // T14
     .cuda = R"(__global__ void k(int *out, const int *in) {
       __shared__ int flag;
       for (int i = 0; i < 20; ++i) {
         if (threadIdx.x == 0) flag = 0;
         __syncthreads();
         if (threadIdx.x < 16 && in[i * 16 + threadIdx.x] < 0) flag = 1;
         __syncthreads();
         out[i * 256 + threadIdx.x] = flag;
         __syncthreads();
       } })",
     .block = {256}, .expected = each<int>(5120, [](int i) { return i / 256 % 3 == 0; }),
     .in = each<int>(320, [](int i) { return i / 16 % 3 == 0 && i % 16 == 9 ? -1 : 1; })},
    {.name = "AReductionInSharedMemory",
     .cuda = R"(__global__ void k(int *out) {
       __shared__ int s[256];
       int t = threadIdx.x;
       s[t] = t + blockIdx.x;
       __syncthreads();
       for (int d = 128; d > 0; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
       if (t == 0) out[blockIdx.x] = s[0]; })",
     .block = {256}, .grid = {3}, .expected = listed({32640, 32896, 33152}), .ways = Ways::More},
    {.name = "APrefixSumInSharedMemory",
     .cuda = R"(__global__ void k(int *out) {
       __shared__ int s[2][100];
       int t = threadIdx.x, from = 0;
       s[0][t] = t % 5;
       __syncthreads();
       for (int d = 1; d < 100; d *= 2) { s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
       from = 1 - from; __syncthreads(); }
       out[t] = s[from][t]; })",
     .block = {100}, .expected = each<int>(100,
         [](int t) { int sum = 0; for (int i = 0; i <= t; ++i) sum += i % 5; return sum; })},
    {.name = "ASortInSharedMemory",
     .cuda = R"(__global__ void k(int *out) {
       __shared__ int s[128];
       int t = threadIdx.x;
       s[t] = t * 37 % 128;
       for (int size = 2; size <= 128; size *= 2) for (int d = size / 2; d > 0; d /= 2) {
         __syncthreads();
         int o = t ^ d;
         if (o > t && (s[t] > s[o]) == ((t & size) == 0)) { int x = s[t]; s[t] = s[o]; s[o] = x; }
       }
       __syncthreads();
       out[t] = s[t]; })",
     .block = {128}, .expected = each<int>(128, [](int t) { return t; })},
    {.name = "WhatThreadsHoldAcrossManyBarriers",
     .cuda = R"(__global__ void k(float *out, const float *in) {
       __shared__ float s[96];
       int t = threadIdx.x;
       float a = in[t], b = 0, c[4] = {1, 2, 3, 4};
       for (int i = 0; i < 4; ++i) { s[t] = a + i; __syncthreads(); b += s[(t + 1) % 96] * c[i]; __syncthreads();
       c[(i + t) % 4] += 1; }
       out[t] = a + b + c[0] * 1000; })",
     .block = {96},
     .expected = each<float>(96, [](int t) {
       float a = float(t), next = float((t + 1) % 96), b = 0, c[4] = {1, 2, 3, 4};
       for (int i = 0; i < 4; ++i) { b += (next + float(i)) * c[i]; c[(i + t) % 4] += 1; }
       return a + b + c[0] * 1000;
     }), .in = each<float>(96, [](int i) { return float(i); }), .ways = Ways::More},
    {.name = "ABlockOf1000Threads",
     .cuda = R"(__global__ void k(int *out) { __shared__ int s[1000]; int t = threadIdx.x; s[t] = t; __syncthreads();
       out[t] = s[999 - t] + __syncthreads_count(1); })",
     .block = {1000}, .expected = each<int>(1000, [](int t) { return 1999 - t; }), .ways = Ways::More},
    {.name = "ABlockOf33By3Threads",
     .cuda = R"(__global__ void k(int *out) {
       __shared__ int s[3][33];
       int x = threadIdx.x, y = threadIdx.y;
       s[y][x] = 100 * y + x;
       __syncthreads();
       out[y * 33 + x] = s[2 - y][32 - x]; })",
     .block = {33, 3}, .expected = each<int>(99, [](int i) { return 100 * (2 - i / 33) + 32 - i % 33; }),
     .ways = Ways::More},
    {.name = "ABlockOf5By7By2Threads",
     .cuda = R"(__global__ void k(int *out) {
       __shared__ int s[2][7][5];
       int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
       s[z][y][x] = x + 10 * y + 100 * z;
       __syncthreads();
       out[((blockIdx.z * 2 + z) * 7 + y) * 5 + x] = s[1 - z][6 - y][4 - x] + 1000 * blockIdx.z; })",
     .block = {5, 7, 2}, .grid = {1, 1, 2},
     .expected = each<int>(140, [](int i) {
       int x = i % 5, y = i / 5 % 7, z = i / 35 % 2;
       return 4 - x + 10 * (6 - y) + 100 * (1 - z) + 1000 * (i / 70);
     }), .ways = Ways::More},
    {.name = "ABarrierBehindADivergentLoop",
     .cuda = R"(__global__ void k(int *out) {
       __shared__ int s[64];
       int t = threadIdx.x, n = 0;
       for (int i = t; i > 0; i /= 3) n += i;
       s[t] = n;
       __syncthreads();
       out[t] = s[63 - t]; })",
     .block = {64}, .expected = each<int>(64,
         [](int t) { int n = 0; for (int i = 63 - t; i > 0; i /= 3) n += i; return n; })},
    {.name = "ABarrierOfADeviceFunctionCalledTwice",
     .cuda = R"(__device__ int turned(int *s, int v) { __syncthreads(); s[threadIdx.x] = v; __syncthreads();
       return s[(threadIdx.x + 1) % 50]; }
       __global__ void k(int *out) { __shared__ int s[50]; int t = threadIdx.x; out[t] = turned(s, turned(s, t)) ; })",
     .block = {50}, .expected = each<int>(50, [](int t) { return (t + 2) % 50; })},
    {.name = "TilesThatTakeTurns",
     .cuda = R"(__global__ void k(float *out, const float *in) {
       __shared__ float a[8][8], b[8][8];
       int x = threadIdx.x, y = threadIdx.y;
       float sum = 0;
       for (int tile = 0; tile < 3; ++tile) {
         int i = tile * 8;
         a[y][x] = i + x < 20 ? in[y * 20 + i + x] : 0;
         b[y][x] = i + y < 20 ? in[160 + (i + y) * 8 + x] : 0;
         __syncthreads();
         for (int j = 0; j < 8; ++j) sum += a[y][j] * b[j][x];
         __syncthreads();
       }
       out[y * 8 + x] = sum; })",
     .block = {8, 8},
     .expected = each<float>(64, [](int i) {
       float sum = 0;
       for (int j = 0; j < 20; ++j) sum += float((i / 8 * 20 + j) % 7) * float((160 + j * 8 + i % 8) % 7);
       return sum;
     }), .in = each<float>(320, [](int i) { return float(i % 7); }), .ways = Ways::More},
    {.name = "TheNextBlockFindsSharedMemoryUnread",
     .cuda = R"(__global__ void k(int *out) {
       __shared__ int s[64];
       int t = threadIdx.x;
       s[63 - t] = blockIdx.x * 100 + t;
       __syncthreads();
       if (t < 32) out[blockIdx.x * 32 + t] = s[t]; })",
     .block = {64}, .grid = {5}, .expected = each<int>(160, [](int i) { return i / 32 * 100 + 63 - i % 32; })},
};
SEMANTICS(Barriers, barriers);

} // namespace
} // namespace opsight::lower
