// What the vectors of a block keep for themselves and what they share, and what the elements of a thread have in common:
// work that is done once, in another order, or without a barrier, gives what CUDA says all the same.
#include "lower/semantic_case.h"
#include <array>

namespace opsight::lower {
namespace {

const std::vector<Case> shares = {
    {.name = "RowsThatEachVectorKeepsForItself", // barriers that order nothing, between some that do
     .cuda = R"(__global__ void k(int *out, int n) { __shared__ int own[8][33], all[256]; int t = threadIdx.x, w = t / 32, l = t % 32;
       int sum = 0;
       for (int round = 0; round < n; ++round) {
         all[t] = t * round;
         __syncthreads();
         own[w][l] = all[255 - t] + sum;
         __syncthreads();
         for (int i = 0; i < 4; ++i) sum += own[w][(l + i) % 32];
         __syncthreads(); }
       out[t] = sum; })",
     .block = {256}, .expected = each<int>(256, [](int t) {
       std::array<int, 32> sums{}, row{};
       for (int round = 0; round < 3; ++round) {
         for (int l = 0; l < 32; ++l) row[size_t(l)] = (255 - t / 32 * 32 - l) * round + sums[size_t(l)];
         for (int l = 0; l < 32; ++l)
           for (int i = 0; i < 4; ++i) sums[size_t(l)] += row[size_t((l + i) % 32)];
       }
       return sums[size_t(t % 32)]; }), .scalar = listed({3}), .ways = Ways::More},
    {.name = "RowsThatAWarpOnlyOnceSharesWithTheNext",
     .cuda = R"(__global__ void k(int *out) { __shared__ int s[256]; int t = threadIdx.x, w = t / 32, sum = 0;
       s[t] = t;
       for (int i = 0; i < 8; ++i) {
         __syncthreads();
         int from = (i == 7 ? (w + 1) % 8 : w) * 32 + (t + i) % 32;
         int read = s[from];
         __syncthreads();
         s[t] = read + 1; sum += read; }
       out[t] = sum; })",
     .block = {256}, .expected = each<int>(256, [](int t) {
       std::array<int, 256> s{}, sums{};
       for (int u = 0; u < 256; ++u) s[size_t(u)] = u;
       for (int i = 0; i < 8; ++i) {
         auto old = s;
         for (int u = 0; u < 256; ++u) {
           int w = u / 32, read = old[size_t((i == 7 ? (w + 1) % 8 : w) * 32 + (u + i) % 32)];
           s[size_t(u)] = read + 1;
           sums[size_t(u)] += read;
         }
       }
       return sums[size_t(t)]; }), .ways = Ways::More},
    {.name = "ColumnsThatAllVectorsOfABlockRead",
     .cuda = R"(__global__ void k(float *out, const float *in, int n) { __shared__ float tile[48][29], part[128];
       int t = threadIdx.x, c = t % 16, w = t / 16; float sum = 0, last = 0;
       for (int round = 0; round < n; ++round) {
         __syncthreads();
         for (int i = t; i < 48 * 28; i += 128) tile[i / 28][i % 28] = in[i] * (round + 1);
         part[t] = t;
         __syncthreads();
#pragma unroll 1
         for (int d = 0; d < 28; ++d) sum += tile[c][d] * (w + d) + tile[c + 32][d];
#pragma unroll 1
         for (int d = 8; d < 20; ++d) last = tile[c + 16][d] - last;
         sum += part[127 - t]; }
       out[t] = sum - last; })",
     .block = {128}, .expected = each<float>(128, [](int t) {
       float sum = 0, last = 0;
       auto in = [](int row, int d) { return float((row * 28 + d) % 13); };
       for (int round = 1; round <= 3; ++round) {
         for (int d = 0; d < 28; ++d)
           sum += float(round) * (in(t % 16, d) * float(t / 16 + d) + in(t % 16 + 32, d));
         for (int d = 8; d < 20; ++d)
           last = float(round) * in(t % 16 + 16, d) - last;
         sum += float(127 - t);
       }
       return sum - last;
     }), .in = each<float>(48 * 28, [](int i) { return float(i % 13); }), .scalar = listed({3}), .ways = Ways::More},
    {.name = "NeighboursThatAreSummedAlikeAndThenAskedForOneByOne",
     .cuda = R"(__global__ void k(float *out, const float *in, int n) { int t = threadIdx.x; float sum[4] = {}, most[4] = {};
       for (int i = 0; i < n; ++i) for (int j = 0; j < 4; ++j) {
         float read = in[i * 256 + 4 * t + j];
         sum[j] += read * (i + 1); most[j] = fmaxf(most[j], read > 5 ? -read : read); }
       for (int j = 0; j < 4; ++j) out[4 * t + j] = sum[j] + 100 * most[j];
       out[256 + t] = sum[0] - sum[1] * 2 + sum[2] * 3 - most[3]; })",
     .block = {64}, .expected = each<float>(320, [](int at) {
       std::array<float, 4> sum{}, most{};
       int t = at < 256 ? at / 4 : at - 256;
       for (int i = 0; i < 5; ++i)
         for (int j = 0; j < 4; ++j) {
           float read = float((i * 256 + 4 * t + j) * 7 % 11);
           sum[size_t(j)] += read * float(i + 1), most[size_t(j)] = std::max(most[size_t(j)], read > 5 ? -read : read);
         }
       return at < 256 ? sum[size_t(at % 4)] + 100 * most[size_t(at % 4)] : sum[0] - sum[1] * 2 + sum[2] * 3 - most[3];
     }), .in = each<float>(5 * 256, [](int i) { return float(i * 7 % 11); }), .scalar = listed({5}), .ways = Ways::More},
    {.name = "RowsOfThreadsThatReadTheSame", // four rows of a block in one vector
     .cuda = R"(__global__ void k(float *out, const float *x, int n) { __shared__ float a[32][32], b[32][32];
       int row = threadIdx.y, column = threadIdx.x; float sum = 0;
       for (int first = 0; first < n; first += 32) {
         a[row][column] = x[row * n + first + column];
         b[row][column] = x[(first + row) * 32 + column];
         __syncthreads();
         for (int i = 0; i < 32; ++i) sum += a[row][i] * b[i][column];
         __syncthreads(); }
       out[row * 32 + column] = sum; })",
     .block = {32, 32}, .expected = each<float>(1024, [](int at) {
       float sum = 0;
       for (int i = 0; i < 96; ++i)
         sum += float((at / 32 * 96 + i) % 7 * ((i * 32 + at % 32) % 7));
       return sum;
     }), .in = each<float>(96 * 32, [](int i) { return float(i % 7); }), .scalar = listed({96}), .ways = Ways::More},
    {.name = "RowsOfThreadsOfWhichOneWraps", // unsigned: the second row ends where the numbers do, and goes on at 0
     .cuda = R"(__global__ void k(int *out, const int *in, unsigned from) { unsigned i = threadIdx.y * from + threadIdx.x;
       unsigned far = i + 3u;
       out[threadIdx.y * 8 + threadIdx.x] = far >= 64 ? -1 : in[far]; })",
     .block = {8, 4}, .expected = each<int>(32, [](int at) {
       uint32_t far = uint32_t(at / 8) * (0u - 6u) + uint32_t(at % 8) + 3;
       return far < 64 ? int(far) * 3 : -1;
     }), .in = each<int>(64, [](int i) { return 3 * i; }), .scalar = listed({0u - 6u}), .ways = Ways::More},
};
SEMANTICS(Sharing, shares);

} // namespace
} // namespace opsight::lower
