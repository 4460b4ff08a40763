// Control flow on the warp machine: threads part and meet again as CUDA's do, whatever shape the source gives it.
#include "lower/semantic_case.h"

namespace opsight::lower {
namespace {

int collatz(int n) {
  int rounds = 0;
  for (; n != 1 && n != 0; ++rounds)
    n = n % 2 ? 3 * n + 1 : n / 2;
  return rounds;
}

const std::vector<Case> branches = {
    {.name = "NestedIfs",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, v = 0;
       if (t & 1) { v += 1; if (t & 2) { v += 10; if (t & 4) v += 100; else v += 200; } else v += 20; v += 1000; }
       else if (t % 3 == 0) v = 7;
       out[t] = v; })",
     .block = {70},
     .expected = each<int>(70, [](int t) { return t & 1 ? 1001 + (t & 2 ? 10 + (t & 4 ? 100 : 200) : 20) : t % 3 == 0 ? 7 : 0; }),
     .ways = Ways::More},
    {.name = "ASideThatNobodyTakesAndOneThatAllTake",
     .cuda = R"(__global__ void k(int *out, const int *in) {
       int t = threadIdx.x;
       if (in[t] > 1000) out[t] = in[in[t]];
       if (in[t] < 1000) out[t] = in[t] + 1; })",
     .block = {48}, .expected = each<int>(48, [](int t) { return 3 * t + 1; }),
     .in = each<int>(48, [](int t) { return 3 * t; })},
    {.name = "AUniformBranchInADivergentOne",
     .cuda = R"(__global__ void k(int *out, const int *in) {
       int t = threadIdx.x, v = t;
       if (t % 3) { if (in[blockIdx.x]) v += 100; else v += 200; v *= 2; }
       out[blockIdx.x * 40 + t] = v; })",
     .block = {40}, .grid = {2},
     .expected = each<int>(80, [](int i) { int t = i % 40; return t % 3 ? 2 * (t + (i < 40 ? 100 : 200)) : t; }),
     .in = listed({1, 0}), .ways = Ways::More},
    {.name = "AUniformLoopInADivergentBranch",
     .cuda = R"(__global__ void k(int *out, const int *in) {
       int t = threadIdx.x, v = 0;
       if (t & 4) for (int i = 0; i < in[0]; ++i) v += in[i] * t;
       out[t] = v; })",
     .block = {33}, .expected = each<int>(33, [](int t) { return t & 4 ? t * (4 + 5 + 6 + 7) : 0; }),
     .in = listed({4, 5, 6, 7})},
    {.name = "WholeWarpsThatBranch",
     .cuda = R"(__global__ void k(int *out) { int t = threadIdx.x; if (t / 32 % 2) out[t] = -t; else out[t] = t; })",
     .block = {160}, .expected = each<int>(160, [](int t) { return t / 32 % 2 ? -t : t; })},
    {.name = "ASwitchThatFallsThrough",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, v = 0;
       switch (t % 6) { case 0: v += 1; case 1: v += 10; break; case 3: v += 100; case 4: v += 1000; default: v += 5; }
       out[t] = v; })",
     .block = {50},
     .expected = each<int>(50, [](int t) { int r[] = {11, 10, 5, 1105, 1005, 5}; return r[t % 6]; }),
     .ways = Ways::More},
    {.name = "ASwitchOfSparseCases",
     .cuda = R"(__global__ void k(int *out, const int *in) {
       int t = threadIdx.x;
       switch (in[t]) { case -5: out[t] = 1; break; case 1000000: out[t] = 2; return; case 77: out[t] = 3; break;
                        case 78: out[t] = 4; break; default: out[t] = 9; }
       out[t] += 10; })",
     .block = {5}, .expected = listed({11, 2, 13, 14, 19}), .in = listed({-5, 1000000, 77, 78, 0})},
    {.name = "ShortCircuitsThatGuardALoad",
     .cuda = R"(__global__ void k(int *out, const int *in) {
       int t = threadIdx.x;
       out[t] = (t < 40 && in[t] > 3) || (t >= 50 && in[t - 50] == 2); })",
     .block = {70},
     .expected = each<int>(70, [](int t) { return (t < 40 && t % 7 > 3) || (t >= 50 && (t - 50) % 7 == 2); }),
     .in = each<int>(40, [](int t) { return t % 7; }), .ways = Ways::More},
    {.name = "AValueThatOneSideLeavesUndefined",
     .cuda = R"(__global__ void k(int *out, const int *in) {
       int t = threadIdx.x, v;
       if (t & 1) out[64 + t] = in[1]; else v = in[0];
       if (!(t & 1)) out[t] = v; })",
     .block = {64},
     .expected = each<int>(128, [](int i) { return i < 64 ? (i & 1 ? 0 : 5) : i & 1 ? 6 : 0; }), .in = listed({5, 6}),
     .ways = Ways::More},
    {.name = "APointerThatABranchChooses",
     .cuda = R"(__global__ void k(int *out, const int *in) {
       int t = threadIdx.x;
       const int *p;
       if (t % 3 == 1) p = in; else p = in + 64;
       out[t] = p[t]; })",
     .block = {64}, .expected = each<int>(64, [](int t) { return t % 3 == 1 ? t : 64 + t; }),
     .in = each<int>(128, [](int i) { return i; })},
    {.name = "VectorsThatABranchChooses",
     .cuda = R"(__global__ void k(float4 *out, const float4 *in) {
       int t = threadIdx.x;
       float4 v = in[t];
       if (t & 1) { v = in[0]; v.y = 9; } else if (t & 2) v = make_float4(1, 2, 3, 4);
       out[t] = v; })",
     .block = {16},
     .expected = each<float>(64, [](int i) {
       int t = i / 4, part = i % 4;
       return t & 1 ? (part == 1 ? 9.0f : float(part)) : t & 2 ? part + 1.0f : float(i);
     }),
     .in = each<float>(64, [](int i) { return float(i); })},
    {.name = "StructuresThatABranchChooses",
     .cuda = R"(struct S { int a; double b; short c; };
       __device__ S make(int t) { if (t % 3 == 0) return {t, 0.5, 1}; if (t % 3 == 1) return {-t, 1.5, 2};
       return {0, 2.5, 3}; }
       __global__ void k(double *out) { int t = threadIdx.x; S s = make(t); out[t] = s.a * 100 + s.b + s.c; })",
     .block = {40},
     .expected = each<double>(40, [](int t) { return t % 3 == 0 ? 100 * t + 1.5 : t % 3 == 1 ? -100 * t + 3.5 : 5.5; })},
    {.name = "EarlyReturnsOfADeviceFunction",
     .cuda = R"(__device__ int f(int t) { if (t < 5) return 1; for (int i = 0; i < t; ++i) if (i * i > t) return i;
       return -1; }
       __global__ void k(int *out) { int t = threadIdx.x; out[t] = f(t) + f(t + 1); })",
     .block = {40},
     .expected = each<int>(40, [](int t) {
       auto f = [](int t) { if (t < 5) return 1; for (int i = 0; i < t; ++i) if (i * i > t) return i; return -1; };
       return f(t) + f(t + 1);
     })},
    {.name = "ADeadEndInOneBranch", // T13
     .cuda = R"(__device__ int stop(int t) { if (t > 1000) { __trap(); } return t; }
       __global__ void k(int *out) {
         int t = threadIdx.x;
         if (t % 36 == 0) out[72] = stop(t) * 0 + 3;
         __syncthreads();
         out[t] = t % 36; })",
     .block = {72}, .expected = each<int>(73, [](int t) { return t == 72 ? 3 : t % 36; })},
};
SEMANTICS(Branches, branches);

const std::vector<Case> loops = {
    {.name = "EachLaneLeavesAtAnotherRound",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, n = t, rounds = 0;
       while (n != 1 && n != 0) { n = n % 2 ? 3 * n + 1 : n / 2; ++rounds; }
       out[t] = rounds; })",
     .block = {100}, .expected = each<int>(100, collatz), .ways = Ways::More},
    {.name = "BreakAndContinue",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, v = 0;
       for (int i = 0; i < 20; ++i) { if (i % 3 == t % 3) continue; if (i > t) break; v += i; if (v > 60) { v = -v;
       break; } }
       out[t] = v; })",
     .block = {70},
     .expected = each<int>(70, [](int t) {
       int v = 0;
       for (int i = 0; i < 20; ++i) { if (i % 3 == t % 3) continue; if (i > t) break; v += i; if (v > 60) { v = -v; break; } }
       return v;
     }), .ways = Ways::More},
    {.name = "DivergentLoopsWithinEachOther",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, v = 0;
       for (int i = 0; i < t % 5; ++i) for (int j = i; j < t % 7; ++j) { if ((i + j) % 4 == 3) break; v += i * 10 + j; }
       out[t] = v; })",
     .block = {64},
     .expected = each<int>(64, [](int t) {
       int v = 0;
       for (int i = 0; i < t % 5; ++i) for (int j = i; j < t % 7; ++j) { if ((i + j) % 4 == 3) break; v += i * 10 + j; }
       return v;
     }), .ways = Ways::More},
    {.name = "ADivergentLoopInAUniformOne",
     .cuda = R"(__global__ void k(int *out, const int *in) {
       int t = threadIdx.x, v = 0;
       for (int i = 0; i < in[0]; ++i) { int j = t; while (j > i) { v += j; j -= 3; } v += j; }
       out[t] = v; })",
     .block = {40},
     .expected = each<int>(40, [](int t) {
       int v = 0;
       for (int i = 0; i < 5; ++i) { int j = t; while (j > i) { v += j; j -= 3; } v += j; }
       return v;
     }), .in = listed({5})},
    {.name = "ReturnsInsideALoop",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x;
       out[t] = -1;
       for (int i = 0; i < 12; ++i) { if (i * i >= t) { out[t] = i; return; } if (t == 77) return; }
       out[t] = 99; })",
     .block = {150},
     .expected = each<int>(150, [](int t) {
       for (int i = 0; i < 12; ++i) { if (i * i >= t) return i; if (t == 77) return -1; }
       return 99;
     }), .ways = Ways::More},
    {.name = "ACounterAllShareReadAfterALoopThatLanesLeaveApart",
     .cuda = R"(__global__ void k(int *out, const int *in) {
       int t = threadIdx.x, i = 0, last = in[0];
       for (; i < 100; ++i) { last = in[i]; if (last >= t) break; }
       out[t] = i * 1000 + last; })",
     .block = {64},
     .expected = each<int>(64, [](int t) { int i = 0; while (2 * i < t) ++i; return i * 1000 + 2 * i; }),
     .in = each<int>(100, [](int i) { return 2 * i; }), .ways = Ways::More},
    {.name = "LiveOutsOfEveryKind",
     .cuda = R"(__global__ void k(float *out, const float *in) {
       int t = threadIdx.x; const float *p = in; float sum = 0; double wide = 1; bool odd = false; short s = 0;
       int row = t;
       do { sum += *p; p += 1; wide *= 2; odd = !odd; s += 3; row += 64; } while (p - in < t % 9 + 1);
       out[t] = sum + float(wide) + odd + s + (p - in) + (row - t) / 64; })",
     .block = {45},
     .expected = each<float>(45, [](int t) { int n = t % 9 + 1; return n * (n - 1) / 2 + float(1 << n) + n % 2 + 3 * n + n + n; }),
     .in = each<float>(9, [](int i) { return float(i); })},
    {.name = "TwoEndsOfALoopThatAreToldApart",
     .cuda = R"(__global__ void k(int *out, const int *in) {
       int t = threadIdx.x, found;
       bool has = false;
       for (int i = 0; i < 16; ++i) if (in[i] == t) { found = i; has = true; break; }
       out[t] = has ? found : -1; })",
     .block = {64}, .expected = each<int>(64, [](int t) { return t % 3 == 0 && t < 48 ? t / 3 : -1; }),
     .in = each<int>(16, [](int i) { return 3 * i; }), .ways = Ways::More},
    {.name = "AJumpOutOfTwoLoops",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, i, j = 0;
       for (i = 1; i < 10; ++i) for (j = 1; j < 10; ++j) if (i * j == t) goto found;
       out[t] = -1; return;
       found: out[t] = 10 * i + j; })",
     .block = {96},
     .expected = each<int>(96, [](int t) {
       for (int i = 1; i < 10; ++i) for (int j = 1; j < 10; ++j) if (i * j == t) return 10 * i + j;
       return -1;
     }), .ways = Ways::More},
    {.name = "JumpsForwardAndBack",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, v = t, n = 0;
       again: if (v > 20) { v -= 7; ++n; goto again; } if (v & 1) goto end; v += 15; n += 100; if (n < 300) goto again;
       end: out[t] = v * 1000 + n; })",
     .block = {64},
     .expected = each<int>(64, [](int t) {
       int v = t, n = 0;
       for (;;) { if (v > 20) { v -= 7; ++n; continue; } if (v & 1) break; v += 15; n += 100; if (n >= 300) break; }
       return v * 1000 + n;
     })},
    {.name = "AJumpIntoTheMiddleOfALoop",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, v = 0, i = 0;
       if (t & 1) goto middle;
       for (; i < t % 11; ++i) { v += 1; middle: v += 10; }
       out[t] = v; })",
     .block = {64},
     .expected = each<int>(64, [](int t) {
       int n = t % 11;
       return t & 1 ? 10 + 11 * std::max(0, n - 1) : 11 * n;
     })},
    {.name = "ALinkedListPerLane",
     .cuda = R"(__global__ void k(int *out, const int *in) { int t = threadIdx.x, n = 0; for (int i = t; i >= 0;
       i = in[i]) ++n; out[t] = n; })",
     .block = {50}, .expected = each<int>(50, [](int t) { return t / 4 + 1; }),
     .in = each<int>(50, [](int t) { return t - 4; })},
    {.name = "ABinarySearchPerLane",
     .cuda = R"(__global__ void k(int *out, const int *in) {
       int t = threadIdx.x, low = 0, high = 37;
       while (low < high) { int middle = (low + high) / 2; if (in[middle] < t) low = middle + 1; else high = middle; }
       out[t] = low; })",
     .block = {128}, .expected = each<int>(128, [](int t) { return std::min((t + 2) / 3, 37); }),
     .in = each<int>(37, [](int i) { return 3 * i; }), .ways = Ways::More},
    {.name = "AGridStrideLoopPastTheEnd",
     .cuda = R"(__global__ void k(int *out) {
       for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 1000; i += gridDim.x * blockDim.x) out[i] += i + 1; })",
     .block = {96}, .grid = {3}, .expected = each<int>(1000, [](int i) { return i + 1; }), .ways = Ways::More},
    {.name = "OneThreadWorksForItsBlock",
     .cuda = R"(__global__ void k(int *out) {
       if (threadIdx.x == 7) { int v = 0; for (int i = 0; i < 50; ++i) { if (i % 5 == 2) continue; v += i; }
       out[blockIdx.x] = v + blockIdx.x; } })",
     .block = {64}, .grid = {3}, .expected = listed({980, 981, 982})},
    {.name = "ALoopWithoutEndButItsBreaks",
     .cuda = R"(__global__ void k(unsigned *out) {
       unsigned t = threadIdx.x, x = t * 2654435761u + 1, n = 0;
       for (;;) { x = x * 1664525u + 1013904223u; if ((x >> 28) == (t & 15)) break; ++n; if (n == 40) { n = 1000;
       break; } }
       out[t] = n; })",
     .block = {64},
     .expected = each<unsigned>(64, [](int i) {
       unsigned t = unsigned(i), x = t * 2654435761u + 1, n = 0;
       for (;;) { x = x * 1664525u + 1013904223u; if ((x >> 28) == (t & 15)) break; ++n; if (n == 40) return 1000u; }
       return n;
     })},
    {.name = "ARotationOfThreeValues",
     .cuda = R"(__global__ void k(int *out) {
       int t = threadIdx.x, a = 1, b = 2, c = t;
       for (int i = 0; i < t % 13; ++i) { int d = a; a = b; b = c; c = d + i; }
       out[t] = a * 10000 + b * 100 + c; })",
     .block = {40},
     .expected = each<int>(40, [](int t) {
       int a = 1, b = 2, c = t;
       for (int i = 0; i < t % 13; ++i) { int d = a; a = b; b = c; c = d + i; }
       return a * 10000 + b * 100 + c;
     })},
};
SEMANTICS(Loops, loops);

} // namespace
} // namespace opsight::lower
