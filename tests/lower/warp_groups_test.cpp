// Cooperative groups on the warp machine, what a kernel says (printf, assert), and what is refused by name.
#include "lower/semantic_case.h"

namespace opsight::lower {
namespace {

using End = card::Launched::End;
const std::string groups = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
                           "#include <cooperative_groups/scan.h>\nnamespace cg = cooperative_groups;\n";

/// What tiles of one size do: ranks, a sum, a scan, votes and shuffles that stay within.
std::vector<Case> tiles() {
  static const std::string names[] = {"Of1", "Of2", "Of4", "Of8", "Of16", "Of32"};
  std::vector<Case> rows;
  for (int index = 0; index < 6; ++index) {
    int size = 1 << index;
    rows.push_back({.name = names[index].c_str(),
                    .cuda = groups + "constexpr int size = " + std::to_string(size) + R"(;
       __global__ void k(int *out) {
         auto tile = cg::tiled_partition<size>(cg::this_thread_block());
         int t = threadIdx.y * blockDim.x + threadIdx.x, lane = t % 32;
         int r[] = {(int)tile.thread_rank(), (int)tile.meta_group_rank(), cg::reduce(tile, lane, cg::plus<int>()),
         cg::inclusive_scan(tile, 1),
                    cg::exclusive_scan(tile, lane), (int)tile.ballot(lane & 1), tile.shfl(t, size - 1),
         tile.shfl_xor(t, size / 2), tile.shfl_up(t, 1), tile.any(t == 5), tile.all(t != 5),
         (int)tile.meta_group_size()};
         tile.sync();
         for (int i = 0; i < 12; ++i) out[t * 12 + i] = r[i];
       })",
                    .block = {16, 4},
                    .expected = each<int>(64 * 12, [=](int i) {
                      int t = i / 12, lane = t % 32, first = lane / size * size, rank = lane - first;
                      int r[] = {rank, t / size, size * (2 * first + size - 1) / 2, rank + 1,
         rank * (2 * first + rank - 1) / 2,
                                 size == 1 ? lane & 1 : int(0xaaaaaaaau & (size == 32 ? ~0u : (1u << size) - 1)),
         t - rank + size - 1, t ^ (size / 2), rank ? t - 1 : t,
                                 t / size == 5 / size, t / size != 5 / size, 64 / size};
                      return r[i % 12];
                    }),
                    .ways = size == 8 || size == 16 ? Ways::More : Ways::Few});
  }
  return rows;
}
SEMANTICS(TiledPartitions, tiles());

const std::vector<Case> cooperative = {
    {.name = "TheBlockAsAGroup",
     .cuda = groups + R"(__global__ void k(int *out) {
       cg::thread_block block = cg::this_thread_block(); __shared__ int s[70];
       int t = block.thread_rank(); s[t] = t; block.sync();
       out[t] = s[69 - t] + 1000 * block.size() + block.thread_index().y * 100000 + block.group_index().x; })",
     .block = {7, 10}, .expected = each<int>(70, [](int t) { return 69 - t + 70000 + t / 7 * 100000; }),
     .ways = Ways::More},
    {.name = "ThreadsWithTheSameLabel",
     .cuda = groups + R"(__global__ void k(int *out) {
       int t = threadIdx.x; auto tile = cg::tiled_partition<32>(cg::this_thread_block());
       auto same = cg::labeled_partition(tile, t * t % 5); auto wide = cg::labeled_partition(tile, (long long)(t % 3) << 40);
       int r[] = {(int)same.size(), (int)same.thread_rank(), same.shfl(t, 0), (int)wide.size()};
       for (int i = 0; i < 4; ++i) out[4 * t + i] = r[i]; })",
     .block = {64}, .expected = each<int>(256, [](int i) {
       int t = i / 4, size = 0, rank = 0, first = -1, wide = 0;
       for (int u = t / 32 * 32; u < t / 32 * 32 + 32; ++u) {
         wide += u % 3 == t % 3;
         if (u * u % 5 != t * t % 5)
           continue;
         first = first < 0 ? u : first;
         ++size;
         rank += u < t;
       }
       int r[] = {size, rank, first, wide};
       return r[i % 4];
     }), .ways = Ways::More},
    {.name = "ThreadsOnEitherSideOfAPredicate", // of a tile, and of those of it that came along
     .cuda = groups + R"(__global__ void k(int *out) {
       int t = threadIdx.x; auto tile = cg::tiled_partition<16>(cg::this_thread_block());
       auto side = cg::binary_partition(tile, t % 16 < 5);
       int r[] = {(int)side.size(), (int)side.thread_rank(), -1, -1};
       if (t % 4) {
         auto here = cg::coalesced_threads(); auto odd = cg::binary_partition(here, t & 1);
         r[2] = odd.size(); r[3] = odd.shfl(t, 1);
       }
       for (int i = 0; i < 4; ++i) out[4 * t + i] = r[i]; })",
     .block = {64}, .expected = each<int>(256, [](int i) {
       int t = i / 4, lane = t % 16, warp = t / 32 * 32;
       int r[] = {lane < 5 ? 5 : 11, lane < 5 ? lane : lane - 5, t % 4 == 0 ? -1 : t & 1 ? 16 : 8,
                  t % 4 == 0 ? -1 : warp + (t & 1 ? 3 : 6)};
       return r[i % 4];
     }), .ways = Ways::More},
    {.name = "ThreadsThatArrivedTogether",
     .cuda = groups + R"(__global__ void k(int *out) {
       int t = threadIdx.x;
       if (t % 3 == 1) {
         cg::coalesced_group g = cg::coalesced_threads();
         out[t] = g.thread_rank() + 100 * g.size() + 10000 * g.shfl(t, 1);
       out[64 + t] = cg::reduce(g, t, cg::plus<int>()); out[128 + t] = g.shfl_down(t, 1) + 100 * g.shfl_up(t, 2);
       out[192 + t] = g.ballot(t & 1) + 10000 * g.any(t == 4) + 20000 * g.all(t < 32);
       } })",
     .block = {64},
     .expected = each<int>(256, [](int i) {
       int t = i % 64, warp = t / 32;
       if (t % 3 != 1) return 0;
       int first = warp ? 34 : 1, size = warp ? 10 : 11, rank = (t - first) / 3;
       switch (i / 64) {
       case 0: return rank + 100 * size + 10000 * (first + 3);
       case 1: return size * (2 * first + 3 * (size - 1)) / 2;
       case 2: return (rank + 1 < size ? t + 3 : t) + 100 * (rank >= 2 ? t - 6 : t);
       default: return (warp ? 0x2aa : 0x555) + (warp ? 0 : 30000);
       }
     }), .ways = Ways::More},
    {.name = "ReductionsByEveryFunctor",
     .cuda = groups + R"(__global__ void k(int *out) {
       auto tile = cg::tiled_partition<16>(cg::this_thread_block()); int t = threadIdx.x, v = t * 5 % 16 - 3;
       int r[] = {cg::reduce(tile, v, cg::less<int>()), cg::reduce(tile, v, cg::greater<int>()), cg::reduce(tile,
         t | 64, cg::bit_and<int>()), cg::reduce(tile, 1 << t % 16, cg::bit_or<int>()), cg::reduce(tile, t,
         cg::bit_xor<int>())};
       for (int i = 0; i < 5; ++i) out[t * 5 + i] = r[i]; })",
     .block = {48}, .expected = each<int>(240, [](int i) { int r[] = {-3, 12, 64 + i / 80 * 16, 0xffff,
         0}; return r[i % 5]; })},
    {.name = "ASumOfFloatsInATile",
     .cuda = groups + R"(__global__ void k(float *out) { auto tile = cg::tiled_partition<32>(cg::this_thread_block());
       float v = cg::reduce(tile, threadIdx.x * 0.5f, cg::plus<float>());
       if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = v; })",
     .block = {96}, .expected = listed({248.f, 760.f, 1272.f})},
};
SEMANTICS(Groups, cooperative);

const std::vector<Case> language = {
    {.name = "AFunctionThatCallsItselfIsRefusedByName",
     .cuda = "__device__ __noinline__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }\n"
             "__global__ void k(int *out) { out[threadIdx.x] = ackermann(2, threadIdx.x); }",
     .block = {32}, .refused = "ackermann"},
    {.name = "FunctionsThatCallEachOtherAreRefusedByName",
     .cuda = "__device__ int odd(int n, int d);\n__device__ __noinline__ int even(int n, int d) { return n == 0 ? d : odd(n - 1, d * 3) ^ d; }\n"
             "__device__ __noinline__ int odd(int n, int d) { return n == 0 ? -d : even(n - 1, d + 1) + d; }\n__global__ void k(int *out) { out[threadIdx.x] = even(threadIdx.x, 1); }",
     .block = {32}, .refused = "the recursive function"},
    {.name = "APointerToAFunctionIsRefused",
     .cuda = "__device__ __noinline__ int twice(int v) { return 2 * v; }\n__device__ __noinline__ int thrice(int v) { return 3 * v; }\n"
             "__global__ void k(int *out) { int (*f)(int) = out[threadIdx.x] ? twice : thrice; out[threadIdx.x] = f(threadIdx.x); }",
     .block = {32}, .refused = "pointer"},
    {.name = "MemoryOfTheHeapIsRefusedByName",
     .cuda = "__global__ void k(int *out) { int *p = (int *)malloc(4 * (threadIdx.x + 1)); p[0] = 3; out[threadIdx.x] = p[0]; free(p); }", .block = {32}, .refused = "malloc"},
    {.name = "PrintfOfEachThread",
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x;
       if (t % 20 == 7) printf("%d: %5.2f %c %llx %u%%\n", t, 1.5f * t, 'x', 0xabcdef012345ull + t, 3000000000u);
       out[t] = 1; })",
     .block = {40}, .expected = all(40, 1),
     .says = "7: 10.50 x abcdef01234c 3000000000%\n27: 40.50 x abcdef012360 3000000000%\n", .ways = Ways::More},
    {.name = "PrintfOfTheSameWords", .cuda = R"(__global__ void k(int *out) { if (threadIdx.x < 3) printf("here\n");
       out[0] = 1; })",
     .block = {33}, .expected = listed({1}), .says = "here\nhere\nhere\n"},
    {.name = "AnAssertThatFailsForOneThread", // T37
     .cuda = "#include <cassert>\n__global__ void k(int *out) { out[threadIdx.x] = 1; assert(threadIdx.x < 32 && \"too many\"); out[threadIdx.x] = 2; }",
     .block = {64}, .expected = all(64, 0), .end = End::Assert, .says = "threadIdx.x < 32", .ways = Ways::More},
    {.name = "AnAssertThatHolds", .cuda = "#include <cassert>\n__global__ void k(int *out) { int t = threadIdx.x; assert(t < 64); if (t & 1) { assert(t % 2 == 1); out[t] = 2; } }",
     .block = {64}, .expected = each<int>(64, [](int t) { return t & 1 ? 2 : 0; })},
    {.name = "TheClockGoesForward",
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x; long long a = clock64(); clock_t c = clock();
       int v = 0; for (int i = 0; i < 100; ++i) v += i * t; long long b = clock64();
       out[t] = (b > a) + 2 * (v == 4950 * t) + 4 * (b - a < 1000000000ll); __nanosleep(10); })",
     .block = {40}, .expected = all(40, 7)},
    {.name = "TemplatesLambdasAndReferences",
     .cuda = R"(template <int N, class F> __device__ int fold(F f) { int s = 0;
       #pragma unroll
       for (int i = 0; i < N; ++i) f(s, i);
       return s; }
       __global__ void k(int *out) { int t = threadIdx.x; out[t] = fold<5>([=](int &s, int i) {
       if (i != t % 5) s = s * 2 + i; }); })",
     .block = {40},
     .expected = each<int>(40, [](int t) { int s = 0; for (int i = 0; i < 5; ++i) if (i != t % 5) s = s * 2 + i; return s; })},
    {.name = "TheLaneAsAPtxRegister",
     .cuda = R"(__global__ void k(unsigned *out) { unsigned t = threadIdx.y * blockDim.x + threadIdx.x, lane;
       asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane)); out[t] = lane * 100 + threadIdx.x; })",
     .block = {9, 5}, .expected = each<unsigned>(45, [](int t) { return unsigned(t % 32 * 100 + t % 9); })},
    {.name = "AnUnknownInstructionIsRefusedWithItsText", .cuda = R"(__global__ void k(int *out) { int d;
       asm("dp2a.lo.s32.s32 %0, %1, %1, %1;" : "=r"(d) : "r"(out[1])); out[0] = d; })", .block = {32}, .refused = "dp2a.lo.s32.s32"},
};
SEMANTICS(Language, language);

} // namespace
} // namespace opsight::lower
