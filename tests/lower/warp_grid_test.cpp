// Barriers of the whole grid on the warp machine: what its threads know of each other behind one, what they keep over it,
// and what is told where not all of them come.
#include "lower/semantic_case.h"
#include <list>

namespace opsight::lower {
namespace {

using End = card::Launched::End;
const std::string groups = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n";

const std::vector<Case> meetings = {
    {.name = "WhatAnotherBlockWroteIsThereBehindIt",
     .cuda = groups + R"(__global__ void k(int *out) {
       cg::grid_group grid = cg::this_grid(); int n = grid.num_threads(), t = grid.thread_rank();
       out[t] = t * 3; grid.sync(); int other = out[n - 1 - t]; cg::sync(grid); out[t] = other; })",
     .block = {48}, .grid = {7}, .expected = each<int>(336, [](int t) { return (335 - t) * 3; }), .ways = Ways::More},
    {.name = "PointersThatAreRestrictedToo",
     .cuda = groups + R"(__global__ void k(int *__restrict__ out) {
       cg::grid_group grid = cg::this_grid(); int n = grid.num_threads(), t = grid.thread_rank();
       out[t] = t; grid.sync(); int other = out[(t + 32) % n]; grid.sync(); out[t] += other; })",
     .block = {32}, .grid = {5}, .expected = each<int>(160, [](int t) { return t + (t + 32) % 160; }), .ways = Ways::More},
    {.name = "WhereAThreadStandsInTheGrid",
     .cuda = groups + R"(__global__ void k(long long *out) { auto g = cg::this_grid();
       long long r[] = {(long long)g.size(), (long long)g.num_blocks(), (long long)g.block_rank(), g.block_index().y,
                        g.dim_blocks().z, g.group_dim().x, g.is_valid(), (long long)cg::group_size(g)};
       long long t = cg::thread_rank(g); for (int i = 0; i < 8; ++i) out[8 * t + i] = r[i]; })",
     .block = {4, 3, 2}, .grid = {2, 3, 2},
     .expected = each<long long>(24 * 12 * 8, [](int i) {
       long long block = i / 8 / 24, r[] = {288, 12, block, block / 2 % 3, 2, 2, 1, 288};
       return r[i % 8];
     })},
    {.name = "ArrivingAndWaitingApart",
     .cuda = groups + R"(__global__ void k(int *out) { auto g = cg::this_grid(); int t = g.thread_rank(); out[t] = t;
       auto token = g.barrier_arrive(); int own = t * t; g.barrier_wait(static_cast<decltype(token) &&>(token));
       int other = out[(t + 64) % 128]; g.sync(); out[t] = own + other; })",
     .block = {64}, .grid = {2}, .expected = each<int>(128, [](int t) { return t * t + (t + 64) % 128; })},
    {.name = "ASumOverTheGrid", // blocks first, then the sums of blocks
     .cuda = groups + R"(__device__ int partial[64]; __global__ void k(int *out, const int *in) {
       auto grid = cg::this_grid(); __shared__ int s[96]; int t = threadIdx.x; s[t] = in[grid.thread_rank()];
       __syncthreads();
       for (int w = 64; w > 0; w /= 2) { if (t < w && t + w < 96) s[t] += s[t + w]; __syncthreads(); }
       if (t == 0) partial[blockIdx.x] = s[0];
       grid.sync();
       int sum = 0; for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
       out[grid.thread_rank()] = sum; })",
     .block = {96}, .grid = {13}, .expected = all(96 * 13, 96 * 13 * (96 * 13 - 1) / 2 + 96 * 13),
     .in = each<int>(96 * 13, [](int i) { return i + 1; }), .ways = Ways::More},
    {.name = "InALoopWithBarriersOfTheBlock", // heat in a rod: every round needs the neighbours' last values
     .cuda = groups + R"(__global__ void k(int *out) {
       auto grid = cg::this_grid(); __shared__ int s[42]; int t = threadIdx.x, i = grid.thread_rank(), n = grid.size();
       out[i] = i * i % 17;
       for (int round = 0; round < 9; ++round) {
         grid.sync();
         s[t + 1] = out[i];
         if (t == 0) s[0] = out[(i + n - 1) % n];
         if (t == 39) s[41] = out[(i + 1) % n];
         __syncthreads();
         int next = s[t] + 2 * s[t + 1] - s[t + 2];
         grid.sync();
         out[i] = next % 1009;
       } })",
     .block = {40}, .grid = {5}, .expected = [] {
       std::vector<int> now(200), next(200);
       for (int i = 0; i < 200; ++i) now[size_t(i)] = i * i % 17;
       for (int round = 0; round < 9; ++round) {
         for (size_t i = 0; i < 200; ++i)
           next[i] = (now[(i + 199) % 200] + 2 * now[i] - now[(i + 1) % 200]) % 1009;
         now = next;
       }
       return Values(now);
     }(), .ways = Ways::More},
    {.name = "MemoryOfABlockAndOfAThreadIsKept", // static, dynamic, local arrays and registers, in every block its own
     .cuda = groups + R"(__global__ void k(int *out, const int *in) {
       extern __shared__ int d[]; __shared__ int s[64]; int t = threadIdx.x, b = blockIdx.x, local[8];
       for (int i = 0; i < 8; ++i) local[i] = in[(t + i) % 8] + b;
       s[t] = t + 100 * b; d[t] = t + 1000 * b; int kept = in[t % 8] * b;
       cg::this_grid().sync();
       int sum = s[63 - t] + d[63 - t] + kept; for (int i = 0; i < 8; ++i) sum += local[in[(t + i) % 8]];
       cg::this_grid().sync();
       s[t] += 1; cg::this_grid().sync(); out[b * 64 + t] = sum + s[63 - t]; })",
     .block = {64}, .grid = {6}, .expected = each<int>(384, [](int i) {
       int t = i % 64, b = i / 64, u = 63 - t, sum = u + 100 * b + u + 1000 * b + (t % 8 + 3) % 8 * b;
       for (int n = 0; n < 8; ++n)
         sum += ((t + (t + n + 3) % 8) % 8 + 3) % 8 + b;
       return sum + u + 100 * b + 1;
     }), .in = each<int>(8, [](int i) { return (i + 3) % 8; }), .shared = 256, .ways = Ways::More},
    {.name = "VotesShufflesAndAtomicsBetween",
     .cuda = groups + R"(__device__ unsigned count; __global__ void k(int *out) {
       auto grid = cg::this_grid(); int t = threadIdx.x, b = blockIdx.x;
       int odd = __syncthreads_count(t & 1), up = __shfl_up_sync(~0u, t, 1); atomicAdd(&count, 1u);
       grid.sync();
       unsigned ballot = __ballot_sync(~0u, t % 4 == b % 4); int all = count; if (t == 3) atomicMax(&out[b * 64], all);
       grid.sync();
       int seen = out[(b + 1) % 5 * 64]; grid.sync();
       out[b * 64 + t] = odd + 100 * up + 10000 * __popc(ballot) + 1000000 * (seen == 320) + 2000000 * __syncthreads_and(t < 64); })",
     .block = {64}, .grid = {5}, .expected = each<int>(320, [](int i) {
       int t = i % 64;
       return 32 + 100 * (t % 32 ? t - 1 : t) + 80000 + 3000000;
     }), .ways = Ways::More},
    {.name = "BlocksOfOneThread",
     .cuda = groups + R"(__global__ void k(int *out) { auto g = cg::this_grid(); int b = blockIdx.x; __shared__ int kept[2];
       kept[1] = b * b; out[b] = b + 1; g.sync(); int left = out[(b + 16) % 17]; g.sync(); out[b] = left * 1000 + kept[1]; })",
     .grid = {17}, .expected = each<int>(17, [](int b) { return ((b + 16) % 17 + 1) * 1000 + b * b; }), .ways = Ways::More},
    {.name = "AGridOfOneBlock",
     .cuda = groups + R"(__global__ void k(int *out) { int t = threadIdx.x; out[t] = t; cg::this_grid().sync();
       int other = out[69 - t]; cg::this_grid().sync(); out[t] = other; })",
     .block = {70}, .expected = each<int>(70, [](int t) { return 69 - t; })},
    {.name = "ManyBlocks",
     .cuda = groups + R"(__global__ void k(int *out) { auto g = cg::this_grid(); int t = g.thread_rank(), n = g.size();
       for (int i = 0; i < 5; ++i) { out[(t + i * 33) % n] = i * n + t; g.sync(); } })",
     .block = {33}, .grid = {40, 5, 5}, .expected = each<int>(33000, [](int t) { return 4 * 33000 + (t - 132 + 33000) % 33000; })},
    {.name = "InCodeThatAllThreadsOfTheGridEnter",
     .cuda = groups + R"(__device__ void exchange(int *out, int rounds) { for (int i = 0; i < rounds; ++i) {
         int v = out[(blockIdx.x + 1) % gridDim.x * 32 + threadIdx.x]; cg::this_grid().sync();
         out[blockIdx.x * 32 + threadIdx.x] = v + 1; cg::this_grid().sync(); } }
       __global__ void k(int *out, const int *in) { int t = blockIdx.x * 32 + threadIdx.x; out[t] = t; cg::this_grid().sync();
         if (in[0] > 0) exchange(out, in[0]); else out[t] = -1; })",
     .block = {32}, .grid = {4}, .expected = each<int>(128, [](int t) { return (t + 96) % 128 + 3; }), .in = listed({3})},
    {.name = "PrintfBetween",
     .cuda = groups + R"(__global__ void k(int *out) { out[blockIdx.x] = 5; cg::this_grid().sync();
       if (threadIdx.x == 33 && blockIdx.x == 2) printf("%d of %d\n", out[0] + out[3], (int)gridDim.x); })",
     .block = {64}, .grid = {4}, .expected = all(4, 5), .says = "10 of 4\n"},
};
SEMANTICS(GridMeetings, meetings);

/// The same in other orders of blocks and warps: where a barrier is missing the ascending one may hide it.
std::vector<Case> otherOrders() {
  std::vector<Case> rows;
  static std::list<std::string> names;
  for (uint64_t order : {1, 2, 77})
    for (size_t which : {0, 4, 5, 6}) {
      Case row = meetings[which];
      row.name = names.emplace_back(fmt::format("{}InOrder{}", row.name, order)).c_str();
      row.order = order, row.ways = Ways::Few;
      rows.push_back(row);
    }
  // Blocks of one range draw their numbers in the order of their turns, which goes down in some phase unless it is
  // ascending in all.
  for (uint64_t order : {0, 5})
    rows.push_back({.name = order ? "BlocksGoDownInSomePhase" : "BlocksAscendUnlessAsked",
                    .cuda = groups + R"(__device__ int drawn; __device__ int number[64]; __global__ void k(int *out) {
                      auto grid = cg::this_grid(); int down = 0;
                      for (int phase = 0; phase < 8; ++phase) {
                        if (threadIdx.x == 0) number[blockIdx.x] = atomicAdd(&drawn, 1);
                        grid.sync();
                        int falls = 0; for (int i = 0; i < 63; ++i) falls += number[i] > number[i + 1];
                        down |= falls > 40;
                        grid.sync();
                      }
                      out[blockIdx.x] = down; })",
                    .block = {32}, .grid = {64}, .expected = all(64, order ? 1 : 0), .order = order});
  return rows;
}
SEMANTICS(GridOrders, otherOrders());

const std::vector<Case> faults = {
    {.name = "ABlockThatReturnsBefore",
     .cuda = groups + R"(__global__ void k(int *out) { if (blockIdx.x == 0) return;
       cg::this_grid().sync(); out[blockIdx.x] = 1; })",
     .block = {32}, .grid = {9}, .expected = all(9, 0), .end = End::Barrier, .says = "block 0,0,0 has returned", .ways = Ways::More},
    {.name = "TheLastBlockThatReturnsBefore",
     .cuda = groups + R"(__global__ void k(int *out) { if (blockIdx.x == 8) return;
       cg::this_grid().sync(); out[blockIdx.x] = 1; })",
     .block = {32}, .grid = {9}, .expected = all(9, 0), .end = End::Barrier, .says = "block 8,0,0 has returned"},
    {.name = "HalfOfTheBlocksReturnBefore",
     .cuda = groups + R"(__global__ void k(int *out) { if (blockIdx.x < 4) return;
       cg::this_grid().sync(); out[blockIdx.x] = 1; })",
     .block = {32}, .grid = {8}, .expected = all(8, 0), .end = End::Barrier, .says = ".cu:4: only part of the grid's blocks"},
    {.name = "AWarpThatReturnsBefore",
     .cuda = groups + R"(__global__ void k(int *out) { if (threadIdx.x / 32 == 1) return;
       cg::this_grid().sync(); out[threadIdx.x] = 1; })",
     .block = {96}, .grid = {3}, .expected = all(96, 0), .end = End::Barrier, .says = ".cu:4: only part of a block's threads", .ways = Ways::More},
    {.name = "AThreadThatReturnsBefore",
     .cuda = groups + R"(__global__ void k(int *out) { if (threadIdx.x == 13) return;
       cg::this_grid().sync(); out[threadIdx.x] = 1; })",
     .block = {32}, .grid = {3}, .expected = all(96, 0), .end = End::Barrier, .says = ".cu:4: only part of", .ways = Ways::More},
    {.name = "SomeThreadsOfAWarpAlone",
     .cuda = groups + R"(__global__ void k(int *out) { if (threadIdx.x & 1) cg::this_grid().sync();
       out[threadIdx.x] = 1; __syncthreads(); })",
     .block = {32}, .grid = {3}, .expected = all(96, 0), .end = End::Barrier, .says = ".cu:3: only part of", .ways = Ways::More},
    {.name = "WarpsAtABarrierOfTheBlockInstead",
     .cuda = groups + R"(__global__ void k(int *out) { if (threadIdx.x < 32) cg::this_grid().sync(); else __syncthreads();
       out[threadIdx.x] = 1; })",
     .block = {64}, .grid = {3}, .expected = all(96, 0), .end = End::Barrier, .says = "two different places", .ways = Ways::More},
    {.name = "BlocksAtTwoPlaces",
     .cuda = groups + R"(__global__ void k(int *out) { if (blockIdx.x & 1)
         cg::this_grid().sync();
       else
         cg::this_grid().sync();
       out[threadIdx.x] = 1; atomicAdd(out, 1); })",
     .block = {64}, .grid = {2}, .expected = all(96, 0), .end = End::Barrier, .says = "the grid's barrier reached at two different places"},
    {.name = "ABlockThatMeetsOnceMore",
     .cuda = groups + R"(__global__ void k(int *out) { for (int i = 0; i < 3 + (blockIdx.x == 5); ++i) cg::this_grid().sync();
       out[threadIdx.x] = 1; })",
     .block = {64}, .grid = {8}, .expected = all(96, 0), .end = End::Barrier, .says = ".cu:3: only part of the grid's blocks", .ways = Ways::More},
    {.name = "AnAssertThatFailsBefore",
     .cuda = "#include <cassert>\n" + groups + R"(__global__ void k(int *out) { assert(blockIdx.x != 3);
       cg::this_grid().sync(); out[threadIdx.x] = 1; })",
     .block = {64}, .grid = {6}, .expected = all(96, 0), .end = End::Assert, .says = "blockIdx.x != 3"},
    {.name = "AThreadThatFaultsWhileOthersWait",
     .cuda = groups + R"(__global__ void k(int *out) { if (blockIdx.x == 1 && threadIdx.x == 0) out[1l << 40] = 1;
       cg::this_grid().sync(); out[threadIdx.x] = 1; })",
     .block = {64}, .grid = {2}, .expected = all(96, 0), .end = End::Crash},
    {.name = "SharedMemoryPastItsEnd", // of a block that others follow
     .cuda = groups + R"(__global__ void k(int *out) { extern __shared__ int d[]; cg::this_grid().sync();
       if (blockIdx.x == 1) d[64 + threadIdx.x] = 1; cg::this_grid().sync(); out[threadIdx.x] = d[threadIdx.x]; })",
     .block = {64}, .grid = {4}, .expected = all(96, 0), .shared = 256, .end = End::Crash},
    {.name = "MoreBlocksThanCanBeThereAtOnce",
     .cuda = groups + "__global__ void k(int *out) { cg::this_grid().sync(); out[threadIdx.x] = 1; }",
     .block = {64}, .grid = {100000}, .expected = all(96, 0), .end = End::Refused,
     .says = "blocks of a launch that waits for the whole grid = 100000 is over the card's limit of"},
};
SEMANTICS(GridFaults, faults);

} // namespace
} // namespace opsight::lower
