// What threads of a block share, on real OpenCL drivers: barriers, early returns, shared memory, warps, atomics.
#include "lower/opencl_run.h"
#include <numeric>

namespace opsight::lower {
namespace {
using card::Argument;

class SpirvThreads : public OnOpenCl {};
INSTANTIATE_TEST_SUITE_P(Drivers, SpirvThreads, everywhere(), whereName);

std::vector<int> counted(int count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST_P(SpirvThreads, ReturnBeforeABarrierCountsAsArrived) {
  auto *in = buffer(std::vector<float>(1024, 1.0f)), *out = buffer(std::vector<float>(4, -1.0f));
  run({R"(__global__ void sum(const float *in, float *out, int n) {
            __shared__ float s[256];
            int t = threadIdx.x, i = blockIdx.x * 256 + t;
            s[t] = 0; __syncthreads();
            if (i >= n) return;
            s[t] = in[i]; __syncthreads();
            for (int k = 128; k; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
            if (t == 0) out[blockIdx.x] = s[0]; })"},
      {.grid = {4, 1, 1}, .block = {256, 1, 1}}, {in, out, scalar(1000)});
  EXPECT_EQ(contents<float>(out), (std::vector<float>{256, 256, 256, 232}));
}

TEST_P(SpirvThreads, EachWarpLoopsItsOwnNumberOfTimesAroundShuffles) {
  auto *out = buffer(std::vector<int>(10, -1));
  run({R"(__global__ void rows(int *out, int rows) {
            int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
            if (row >= rows) return;
            int total = 0;
            for (int j = 0; j <= row; ++j) {
              int v = lane + j;
              for (int k = 16; k; k >>= 1) v += __shfl_xor_sync(0xffffffff, v, k);
              total += v; }
            if (lane == 0) out[row] = total; })"},
      {.grid = {3, 1, 1}, .block = {128, 1, 1}}, {out, scalar(10)});
  std::vector<int> want;
  for (int row = 0; row < 10; ++row)
    want.push_back(496 * (row + 1) + 32 * row * (row + 1) / 2);
  EXPECT_EQ(contents<int>(out), want);
}

TEST_P(SpirvThreads, ShuffleInABranchExchangesWithinItsMask) {
  auto *out = buffer(std::vector<int>(64, -1));
  run({R"(__global__ void half(int *out) {
            int t = threadIdx.x, v = t;
            if (t % 32 < 16) v = __shfl_xor_sync(0x0000ffff, v, 8);
            out[t] = v; })"},
      {.block = {64, 1, 1}}, {out});
  std::vector<int> want = counted(64);
  for (int &v : want)
    v = v % 32 < 16 ? v ^ 8 : v;
  EXPECT_EQ(contents<int>(out), want);
}

TEST_P(SpirvThreads, ScanBySixtyFourThreadsRestartsAtEachWarp) {
  auto *out = buffer(std::vector<int>(64, -1));
  run({R"(__global__ void scan(int *out) {
            int lane = threadIdx.x & 31, v = 1;
            for (int k = 1; k < 32; k <<= 1) { int u = __shfl_up_sync(0xffffffff, v, k); if (lane >= k) v += u; }
            out[threadIdx.x] = v; })"},
      {.block = {64, 1, 1}}, {out});
  std::vector<int> want = counted(64);
  for (int &v : want)
    v = v % 32 + 1;
  EXPECT_EQ(contents<int>(out), want);
}

TEST_P(SpirvThreads, ShuffleDownPastItsWidthKeepsTheOwnValue) {
  auto *out = buffer(std::vector<int>(256, -1));
  run({R"(__global__ void down(int *out) {
            out[threadIdx.x] = __shfl_down_sync(0xffffffff, (int)threadIdx.x, 4, 8); })"},
      {.block = {256, 1, 1}}, {out});
  std::vector<int> want = counted(256);
  for (int &v : want)
    v = v % 8 < 4 ? v + 4 : v;
  EXPECT_EQ(contents<int>(out), want);
}

TEST_P(SpirvThreads, DoubleShuffleMovesTheLowWord) {
  if (!session->info().hasDouble)
    GTEST_SKIP() << "no double on " << GetParam().card;
  auto *out = buffer(std::vector<double>(32, -1));
  run({R"(__global__ void wide(double *out) {
            int lane = threadIdx.x; double v = 1.0 + lane * 0x1p-40;
            out[lane] = __shfl_xor_sync(0xffffffff, v, 16); })"},
      {.block = {32, 1, 1}}, {out});
  std::vector<double> got = contents<double>(out);
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(got[lane], 1.0 + (lane ^ 16) * 0x1p-40);
}

TEST_P(SpirvThreads, VotesSeeTheirOwnWarpOnly) {
  auto *out = buffer(std::vector<unsigned>(4 * 64, 7));
  run({R"(__global__ void votes(unsigned *out) {
            int t = threadIdx.x;
            out[t] = __ballot_sync(0xffffffff, t & 1);
            out[64 + t] = __any_sync(0xffffffff, t == 63);
            out[128 + t] = __all_sync(0xffffffff, t < 32);
            out[192 + t] = __reduce_add_sync(0xffffffff, (unsigned)t); })"},
      {.block = {64, 1, 1}}, {out});
  std::vector<unsigned> got = contents<unsigned>(out);
  for (int t = 0; t < 64; ++t) {
    EXPECT_EQ(got[t], 0xAAAAAAAAu);
    EXPECT_EQ(got[64 + t], t >= 32 ? 1u : 0u);
    EXPECT_EQ(got[128 + t], t < 32 ? 1u : 0u);
    EXPECT_EQ(got[192 + t], t < 32 ? 496u : 1520u);
  }
}

TEST_P(SpirvThreads, ActiveMaskOfALastPartialWarpHasItsThreadsOnly) {
  auto *out = buffer(std::vector<unsigned>(40, 0));
  run({"__global__ void mask(unsigned *out) { out[threadIdx.x] = __activemask(); }"}, {.block = {40, 1, 1}}, {out});
  EXPECT_EQ(contents<unsigned>(out)[0], 0xFFFFFFFFu);
  EXPECT_EQ(contents<unsigned>(out)[39], 0xFFu);
}

TEST_P(SpirvThreads, BlockVotesCountAndReopen) {
  auto *out = buffer(std::vector<int>(5, -1));
  run({R"(__global__ void vote(int *out) {
            int t = threadIdx.x, rounds = 0;
            while (__syncthreads_or(t > rounds * 50)) ++rounds;
            int count = __syncthreads_count(t % 3 == 0), all = __syncthreads_and(t < 100), most = __syncthreads_and(t < 99);
            if (t == 0) { out[0] = rounds; out[1] = count; out[2] = all; out[3] = most; out[4] = 1; } })"},
      {.block = {100, 1, 1}}, {out});
  std::vector<int> got = contents<int>(out);
  EXPECT_EQ(got[0], 2);
  EXPECT_EQ(got[1], 34);
  EXPECT_TRUE(got[2]);
  EXPECT_FALSE(got[3]);
}

TEST_P(SpirvThreads, ALoopBoundedByAStructOrAConstantNeedsNoRounds) {
  struct Problem {
    uint64_t ignored;
    int n;
  } problem{0, 3};
  Text text{R"(struct Problem { float *ignored; int n; }; __constant__ int more[2] = {0, 2};
               __global__ void tiles(Problem p, float *out) {
                 __shared__ float s[32]; const int t = threadIdx.x; float x = 0;
                 for (int i = 0; i < p.n + more[1]; ++i) { s[t] = i; __syncthreads(); x += s[31 - t]; __syncthreads(); }
                 out[t] = x; })"};
  auto artifact = lowered(text, {32, 1, 1});
  ASSERT_TRUE(artifact) << describe(artifact.error());
  EXPECT_TRUE(artifact->manifest.notes.empty()) << artifact->manifest.notes.front();
  auto *out = buffer(std::vector<float>(32, -1));
  run(text, {.block = {32, 1, 1}}, {scalar(problem), out});
  EXPECT_EQ(contents<float>(out), std::vector<float>(32, 10));
}

TEST_P(SpirvThreads, NestedLoopsWithConditionalBarriersRunEachRoundOnce) {
  auto *out = buffer(std::vector<int>(12, 0));
  run({R"(__global__ void nest(int *out, int a, int b) {
            for (int i = 0; i < 3; ++i) {
              if (a) __syncthreads();
              for (int j = 0; j < 4; ++j) { if (b) __syncthreads(); if (threadIdx.x == 0) out[i * 4 + j] += 1; }
              __syncthreads(); } })"},
      {.block = {64, 1, 1}}, {out, scalar(1), scalar(1)});
  EXPECT_EQ(contents<int>(out), std::vector<int>(12, 1));
}

TEST_P(SpirvThreads, LocalAtomicsSurviveTheBarrier) {
  auto *out = buffer(std::vector<int>(4, -1));
  run({R"(__global__ void histogram(int *out) {
            __shared__ int bins[4];
            if (threadIdx.x < 4) bins[threadIdx.x] = 0;
            __syncthreads();
            atomicAdd(&bins[2], 1); atomicAdd(&bins[2], 1);
            __syncthreads();
            if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x]; })"},
      {.block = {256, 1, 1}}, {out});
  EXPECT_EQ(contents<int>(out), (std::vector<int>{0, 0, 512, 0}));
}

TEST_P(SpirvThreads, AtomicsOfEveryKind) {
  auto *words = buffer(std::vector<unsigned>{0, 500, 0, 1000, 0xFFFFFFFF, 0, 0, 0, 5, 0});
  auto *real = buffer(std::vector<float>(1, 0.0f));
  auto *wide = buffer(std::vector<uint64_t>(1, 0));
  run({R"(__global__ void all(unsigned *w, float *f, unsigned long long *u) {
            unsigned t = threadIdx.x;
            atomicAdd(&w[0], 2u); atomicSub(&w[1], 1u); atomicMax(&w[2], t); atomicMin(&w[3], t);
            atomicAnd(&w[4], ~(1u << (t & 31))); atomicOr(&w[5], 1u << (t & 31)); atomicXor(&w[6], 1u);
            atomicInc(&w[7], 9u); atomicDec(&w[8], 9u);
            unsigned old = w[9], seen;
            do { seen = old; old = atomicCAS(&w[9], seen, seen + 3); } while (old != seen);
            atomicAdd(f, 0.5f); atomicAdd(u, 1ull << 33); })"},
      {.grid = {2, 1, 1}, .block = {128, 1, 1}}, {words, real, wide});
  EXPECT_EQ(contents<unsigned>(words), (std::vector<unsigned>{512, 244, 127, 0, 0, 0xFFFFFFFF, 0, 6, 9, 768}));
  EXPECT_EQ(contents<float>(real)[0], 128.0f);
  EXPECT_EQ(contents<uint64_t>(wide)[0], uint64_t(256) << 33);
}

TEST_P(SpirvThreads, DynamicAndStaticSharedMemoryAreDisjoint) {
  auto *out = buffer(std::vector<int>(64, -1));
  run({R"(__global__ void both(int *out) {
            __shared__ int fixed[32]; extern __shared__ int open[];
            fixed[threadIdx.x] = threadIdx.x; open[threadIdx.x] = 100 + threadIdx.x;
            __syncthreads();
            out[threadIdx.x] = fixed[31 - threadIdx.x]; out[32 + threadIdx.x] = open[31 - threadIdx.x]; })"},
      {.block = {32, 1, 1}, .dynamicSharedBytes = 128}, {out});
  std::vector<int> got = contents<int>(out);
  for (int t = 0; t < 32; ++t) {
    EXPECT_EQ(got[t], 31 - t);
    EXPECT_EQ(got[32 + t], 131 - t);
  }
}

TEST_P(SpirvThreads, TwoDimensionalBlocksFormWarpsXFirst) {
  auto *out = buffer(std::vector<int>(64, -1));
  run({R"(__global__ void square(int *out) {
            int t = threadIdx.y * 16 + threadIdx.x;
            out[t] = __shfl_sync(0xffffffff, t, 0); })"},
      {.block = {16, 4, 1}}, {out});
  std::vector<int> want = counted(64);
  for (int &v : want)
    v = v / 32 * 32;
  EXPECT_EQ(contents<int>(out), want);
}

TEST_P(SpirvThreads, ABarrierOfTheWholeGridIsNamedWithItsLine) {
  auto artifact = lowered({"#include <cooperative_groups.h>\n__global__ void k(int *out) {\n"
                           "  cooperative_groups::this_grid().sync();\n  out[threadIdx.x] = 1;\n}"},
                          {32});
  ASSERT_FALSE(artifact) << "is not refused";
  EXPECT_EQ(artifact.error().kind, ErrorKind::Unsupported) << describe(artifact.error());
  EXPECT_NE(artifact.error().what.find("a barrier of the whole grid"), std::string::npos) << artifact.error().what;
  EXPECT_EQ(artifact.error().where.line, 3u) << describe(artifact.error());
}

TEST_P(SpirvThreads, WhereAThreadStandsInTheGridNeedsNoBarrier) {
  auto *out = buffer(std::vector<int>(96, -1));
  run({"#include <cooperative_groups.h>\n__global__ void k(int *out) { auto grid = cooperative_groups::this_grid();\n"
       "  out[grid.thread_rank()] = grid.size() * 1000 + grid.block_rank(); }"},
      {.grid = {3}, .block = {32, 1, 1}}, {out});
  std::vector<int> want = counted(96);
  for (int &v : want)
    v = 96000 + v / 32;
  EXPECT_EQ(contents<int>(out), want);
}

} // namespace
} // namespace opsight::lower
