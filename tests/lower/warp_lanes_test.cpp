// What the lanes of a warp do together: shuffles, votes, matches, reductions, in whole and in partial warps.
#include "lower/semantic_case.h"

namespace opsight::lower {
namespace {

// __shfl*_sync(…, width) in C, for a warp whose lanes all take part.
int shuffled(char kind, int lane, int by, int width) {
  int first = lane / width * width, source = 0;
  switch (kind) {
  case 'i': return first + (by & (width - 1));
  case 'u': source = lane - by; return source < first ? lane : source;
  case 'd': source = lane + by; return source >= first + width ? lane : source;
  default: source = lane ^ by; return source >= first + width ? lane : source;
  }
}

/// One row a kind and width; the distance is constant, then another in each lane.
std::vector<Case> shuffles() {
  static const std::string names[] = {"Index", "Up", "Down", "Xor"}, calls[] = {"", "_up", "_down", "_xor"};
  static std::vector<std::string> kept; // names outlive the cases
  kept.reserve(64);
  std::vector<Case> rows;
  for (int kind = 0; kind < 4; ++kind)
    for (int width : {2, 4, 8, 16, 32}) {
      kept.push_back(names[kind] + "InGroupsOf" + std::to_string(width));
      std::string call = "__shfl" + calls[kind] + "_sync(0xffffffff, v, ", end = ", " + std::to_string(width) + ")";
      rows.push_back({.name = kept.back().c_str(),
                      .cuda = "__global__ void k(int *out) { int t = threadIdx.x, v = 1000 + t; out[t] = " + call + "1" + end +
                              "; out[64 + t] = " + call + "3" + end + "; out[128 + t] = " + call + "t % 7" + end + "; }",
                      .block = {64},
                      .expected = each<int>(192, [=](int i) {
                        int t = i % 64, by = i < 64 ? 1 : i < 128 ? 3 : t % 7;
                        return 1000 + t / 32 * 32 + shuffled("iudx"[kind], t % 32, by, width);
                      }),
                      .ways = width == 8 ? Ways::More : Ways::Few});
    }
  return rows;
}
SEMANTICS(Shuffles, shuffles());

const std::vector<Case> exchanges = {
    {.name = "ALaneBeyond32IsTakenModulo",
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x;
       out[t] = __shfl_sync(~0u, t, t + 33) * 100 + __shfl_sync(~0u, t, -1, 8); })",
     .block = {32}, .expected = each<int>(32, [](int t) { return (t + 1) % 32 * 100 + t / 8 * 8 + 7; })},
    {.name = "AWidthKnownAtRunTime",
     .cuda = R"(__global__ void k(int *out, const int *in) { int t = threadIdx.x;
       out[t] = __shfl_down_sync(~0u, t, 1, in[0]) + 100 * __shfl_sync(~0u, t, 0, in[t / 16]); })",
     .block = {32}, .expected = each<int>(32,
         [](int t) { int w = t < 16 ? 4 : 8; return (t % 4 == 3 ? t : t + 1) + 100 * (t / w * w); }),
     .in = listed({4, 8})},
    {.name = "LanesOfAMaskInABranch", // T06
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x, v = t;
       if (t < 16) v = __shfl_xor_sync(0x0000ffff, v, 1); out[t] = v; })",
     .block = {32}, .expected = each<int>(32, [](int t) { return t < 16 ? t ^ 1 : t; }), .ways = Ways::More},
    {.name = "BothBranchesShuffle",
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x, v; if (t & 1) v = __shfl_up_sync(0xaaaaaaaa, t, 2);
       else v = __shfl_down_sync(0x55555555, t, 2) + 100; out[t] = v; })",
     .block = {32}, .expected = each<int>(32,
         [](int t) { return t & 1 ? (t < 2 ? t : t - 2) : (t >= 30 ? t : t + 2) + 100; })},
    {.name = "OnlyEvenBlocksShuffle",
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x, i = blockIdx.x * 64 + t;
       out[i] = blockIdx.x % 2 ? -1 : __shfl_xor_sync(~0u, i, 31); })",
     .block = {64}, .grid = {4}, .expected = each<int>(256, [](int i) { return i / 64 % 2 ? -1 : i ^ 31; })},
    {.name = "AllOfADouble", // T07
     .cuda = R"(__global__ void k(double *out) { int t = threadIdx.x;
       out[t] = __shfl_xor_sync(~0u, 1 + t * 0x1p-40, 16); })",
     .block = {32}, .expected = each<double>(32, [](int t) { return 1 + (t ^ 16) * 0x1p-40; })},
    {.name = "AllOfALongInteger",
     .cuda = R"(__global__ void k(long long *out) { int t = threadIdx.x;
       out[t] = __shfl_down_sync(~0u, t * 0x100000001ll - 5, 7); })",
     .block = {32}, .expected = each<long long>(32,
         [](int t) { return (t + 7 < 32 ? t + 7 : t) * 0x100000001ll - 5; })},
    {.name = "FloatsAndTheirSigns",
     .cuda = R"(__global__ void k(float *out) { int t = threadIdx.x;
       out[t] = __shfl_up_sync(~0u, t & 1 ? -0.0f : 1.5f * t, 1); })",
     .block = {32}, .expected = each<float>(32,
         [](int t) { return t == 0 ? 0.0f : (t - 1) & 1 ? -0.0f : 1.5f * float(t - 1); })},
    {.name = "AScanStartsAnewEvery32Lanes", // T01
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, lane = t & 31, v = 1;
       for (int d = 1; d < 32; d *= 2) { int o = __shfl_up_sync(~0u, v, d); if (lane >= d) v += o; }
       out[t] = v; })",
     .block = {64}, .expected = each<int>(64, [](int t) { return t % 32 + 1; }), .ways = Ways::More},
    {.name = "SumsOfEightWarps", // T02
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, v = t;
       for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
       if (t % 32 == 0) { out[t / 32] = v; atomicAdd(out + 8, v); } })",
     .block = {256}, .expected = each<int>(9, [](int w) { return w == 8 ? 32640 : 496 + 1024 * w; })},
    {.name = "ShuffleDownBy16In256Threads", // T04
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x; out[t] = __shfl_down_sync(~0u, t, 16); })",
     .block = {256}, .expected = each<int>(256, [](int t) { return t % 32 < 16 ? t + 16 : t; })},
    {.name = "LanesCountAlongTheRowsOfABlock",
     .cuda = R"(__global__ void k(int *out) {
       int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, lane;
       asm("mov.u32 %0, %%laneid;" : "=r"(lane));
       out[t] = __shfl_sync(~0u, t, 3) * 100 + lane; })",
     .block = {12, 4, 2}, .expected = each<int>(96, [](int t) { return (t / 32 * 32 + 3) * 100 + t % 32; })},
    {.name = "AWarpInStepThroughVolatileMemory", // T08
     .cuda = R"(__global__ void k(int *out) {
       __shared__ int s[512];
       int t = threadIdx.x;
       s[t] = 1;
       __syncthreads();
       for (int d = 256; d >= 64; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
       if (t < 32) { volatile int *v = s; v[t] += v[t + 32]; v[t] += v[t + 16]; v[t] += v[t + 8]; v[t] += v[t + 4];
       v[t] += v[t + 2]; v[t] += v[t + 1]; }
       if (t == 0) out[0] = s[0]; })",
     .block = {512}, .expected = listed({512}), .ways = Ways::More},
    {.name = "AWarpThatWaitsAfterEachStep",
     .cuda = R"(__global__ void k(int *out) {
       __shared__ int s[64];
       int t = threadIdx.x;
       s[t] = t;
       for (int d = 1; d < 32; d *= 2) { __syncwarp(); int v = s[t ^ d]; __syncwarp(); s[t] += v; }
       out[t] = s[t]; })",
     .block = {64}, .expected = each<int>(64, [](int t) { return t < 32 ? 496 : 1520; }), .ways = Ways::More},
};
SEMANTICS(Exchanges, exchanges);

const std::vector<Case> votes = {
    {.name = "ABallotOfOddLanes", // T03
     .cuda = R"(__global__ void k(unsigned *out) { int t = threadIdx.x; out[t] = __ballot_sync(~0u, t & 1);
       out[64 + t] = __popc(__ballot_sync(~0u, t % 4 == 3)); })",
     .block = {64}, .expected = each<unsigned>(128, [](int i) { return i < 64 ? 0xaaaaaaaau : 8u; }),
     .ways = Ways::More},
    {.name = "ABallotInAWarpOf9Threads",
     .cuda = R"(__global__ void k(unsigned *out) {
       int t = threadIdx.x;
       out[t * 4] = __ballot_sync(t < 32 ? ~0u : 0x1ff, t >= 3);
       out[t * 4 + 1] = __all_sync(t < 32 ? ~0u : 0x1ff, t < 41);
       out[t * 4 + 2] = __any_sync(t < 32 ? ~0u : 0x1ff, t == 40);
       out[t * 4 + 3] = __activemask(); })",
     .block = {41},
     .expected = each<unsigned>(164, [](int i) {
       bool last = i / 4 >= 32;
       unsigned r[] = {last ? 0x1ffu : 0xfffffff8u, 1, last, last ? 0x1ffu : ~0u};
       return r[i % 4];
     }), .ways = Ways::More},
    {.name = "ABallotOfAPartialMask",
     .cuda = R"(__global__ void k(unsigned *out) { int t = threadIdx.x;
       if (t >= 8 && t < 20) out[t] = __ballot_sync(0x000fff00, t % 2 == 0); })",
     .block = {32}, .expected = each<unsigned>(32, [](int t) { return t >= 8 && t < 20 ? 0x00055500u : 0u; })},
    {.name = "VotesInQuartersOfAWarpByTheirOwnMasks",
     .cuda = R"(__global__ void k(unsigned *out) {
       int t = threadIdx.x; unsigned mask = 0xffu << (t / 8 * 8);
       out[t] = __ballot_sync(mask, t % 8 <= t / 8) >> (t / 8 * 8);
       out[32 + t] = __any_sync(mask, t == 9) * 2 + __all_sync(mask, t < 24); })",
     .block = {32},
     .expected = each<unsigned>(64, [](int i) {
       int t = i % 32;
       return i < 32 ? (2u << (t / 8)) - 1 : (t / 8 == 1) * 2u + (t < 24);
     })},
    {.name = "TheActiveThreadsOfABranch",
     .cuda = R"(__global__ void k(unsigned *out) { int t = threadIdx.x; if (t % 3 == 0) out[t] = __activemask();
       else if (t & 1) out[t] = __activemask(); })",
     .block = {32},
     .expected = each<unsigned>(32, [](int t) {
       uint32_t third = 0, odd = 0;
       for (int lane = 0; lane < 32; ++lane)
         (lane % 3 == 0 ? third : lane & 1 ? odd : third) |= lane % 3 == 0 || lane & 1 ? 1u << lane : 0u;
       return t % 3 == 0 ? third : t & 1 ? odd : 0u;
     })},
    {.name = "TheActiveThreadsOfALoop",
     .cuda = R"(__global__ void k(unsigned *out) { int t = threadIdx.x; for (int i = 0; i <= t % 4; ++i) {
       out[i * 32 + t] = __activemask(); __syncwarp(__activemask()); } })",
     .block = {32},
     .expected = each<unsigned>(128, [](int i) { unsigned m[] = {~0u, 0xeeeeeeeeu, 0xccccccccu,
         0x88888888u}; return i % 4 >= i / 32 ? m[i / 32] : 0u; })},
    {.name = "WhetherAllAgree",
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x;
       out[t] = (__uni_sync(~0u, t < 32) != 0) + 2 * (__uni_sync(~0u, t < 40) != 0) + 4 * (__uni_sync(~0u, 0) != 0);
       })",
     .block = {64}, .expected = each<int>(64, [](int t) { return t < 32 ? 7 : 5; })},
    {.name = "ThoseWhoHoldTheSame",
     .cuda = R"(__global__ void k(unsigned *out) { int t = threadIdx.x; out[t] = __match_any_sync(~0u, t % 32 / 3);
       out[64 + t] = __match_any_sync(~0u, (t % 2) * 0x100000000ll); })",
     .block = {64},
     .expected = each<unsigned>(128, [](int i) { int t = i % 32; return i < 64 ? 7u << (t / 3 * 3) : t & 1 ? 0xaaaaaaaau : 0x55555555u; }),
     .ways = Ways::More},
    {.name = "ThoseWhoHoldTheSameInABranch",
     .cuda = R"(__global__ void k(unsigned *out, const float *in) { int t = threadIdx.x;
       if (t & 1) out[t] = __match_any_sync(0xaaaaaaaa, in[t]); })",
     .block = {32}, .expected = each<unsigned>(32,
         [](int t) { return t & 1 ? (t < 16 ? 0x0000aaaau : 0xaaaa0000u) : 0u; }),
     .in = each<float>(32, [](int t) { return t < 16 ? 1.5f : 2.5f; })},
    {.name = "WhetherAllHoldTheSame",
     .cuda = R"(__global__ void k(unsigned *out) {
       int t = threadIdx.x, a, b, c;
       unsigned x = __match_all_sync(~0u, t / 32, &a), y = __match_all_sync(~0u, t / 33, &b), z = __match_all_sync(~0u,
         5ll << 40, &c);
       out[t] = (a != 0) + 2 * (b != 0) + 4 * (c != 0); out[64 + t] = x; out[128 + t] = y; out[192 + t] = z; })",
     .block = {64},
     .expected = each<unsigned>(256, [](int i) { bool first = i % 64 < 32; return i < 64 ? (first ? 7u : 5u) : i / 64 == 2 && !first ? 0u : ~0u; })},
    {.name = "ReductionsOfAWarp",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, v = (t % 32 - 9) * 3; unsigned u = 0x80000000u + t;
       int r[] = {__reduce_add_sync(~0u, v), __reduce_min_sync(~0u, v), __reduce_max_sync(~0u, v),
         (int)__reduce_min_sync(~0u, u),
                  (int)__reduce_max_sync(~0u, u), (int)__reduce_and_sync(~0u, u | 6u), (int)__reduce_or_sync(~0u,
         1u << t % 32), (int)__reduce_xor_sync(~0u, u)};
       for (int i = 0; i < 8; ++i) out[t * 8 + i] = r[i]; })",
     .block = {64},
     .expected = each<int>(512, [](int i) {
       int first = i / 256 * 32, low = int(0x80000000u + unsigned(first));
       int r[] = {624, -27, 66, low, low + 31, low + 6 - 0, -1, 0};
       return r[i % 8];
     }), .ways = Ways::More},
    {.name = "ReductionsOfBothSidesOfABranch",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x;
       if (t % 4 == 1) out[t] = __reduce_add_sync(0x22222222, t); else out[t] = __reduce_max_sync(0xdddddddd, -t); })",
     .block = {32}, .expected = each<int>(32, [](int t) { return t % 4 == 1 ? 120 : 0; })},
    {.name = "ReductionsInAWarpOf5Threads",
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x;
       out[t] = __reduce_add_sync(t < 32 ? ~0u : 31u, 1) * 100 + __reduce_min_sync(t < 32 ? ~0u : 31u, t + 1); })",
     .block = {37}, .expected = each<int>(37, [](int t) { return t < 32 ? 3201 : 533; })},
    {.name = "OneThreadAddsForAllOfItsBranch",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x;
       if (t % 3 != 2) {
         unsigned mask = __activemask(); int leader = __ffs(mask) - 1, at;
         if (t % 32 == leader) at = atomicAdd(out + 64, __popc(mask));
         at = __shfl_sync(mask, at, leader) + __popc(mask & ((1u << t % 32) - 1));
         out[at] = 1;
       } })",
     .block = {64}, .expected = each<int>(65, [](int i) { return i == 64 ? 43 : i < 43; }), .ways = Ways::More},
    {.name = "AMaskThatShrinksRoundByRound",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, n = t % 8, sum = 0; unsigned mask = ~0u;
       while ((mask = __ballot_sync(mask, n > 0)), n > 0) { sum += __popc(mask) * 10 + __reduce_min_sync(mask, n); --n;
       }
       out[t] = sum; })",
     .block = {32},
     .expected = each<int>(32, [](int t) {
       int sum = 0;
       for (int round = 0; round < t % 8; ++round) sum += (7 - round) * 4 * 10 + 1;
       return sum;
     })},
};
SEMANTICS(Votes, votes);

} // namespace
} // namespace opsight::lower
