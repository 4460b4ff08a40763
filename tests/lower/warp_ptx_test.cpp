// Inline PTX on the warp machine: memory, what threads do together, and where they stand.
#include "lower/semantic_case.h"

namespace opsight::lower {
namespace {

using U = uint32_t;

const std::vector<Case> memory = {
    {.name = "LoadsAndStoresOfEveryForm",
     .cuda = R"(__global__ void k(unsigned *out, const unsigned *in) {
       __shared__ uint4 tile[64];
       unsigned s = (unsigned)__cvta_generic_to_shared(tile), t = threadIdx.x, a, b, c, d, e; unsigned long long g;
       asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(in + 4 * t));
       asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" :: "r"(s + 16 * t), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
       __syncthreads();
       asm volatile("ld.shared.v2.u32 {%0, %1}, [%2 + 8];" : "=r"(a), "=r"(b) : "r"(s + 16 * (63 - t)));
       asm volatile("ld.shared.u8 %0, [%1+-15];" : "=r"(c) : "r"(s + 16 * t + 16));
       asm volatile("ld.global.s16 %0, [%1 + %2];" : "=r"(d) : "l"(in + 4 * t), "n"(2));
       asm volatile("{ .reg .u64 p; cvta.to.global.u64 p, %1; ld.global.ca.u32 %0, [p + 4]; }" : "=r"(e) : "l"(in + 4 * t));
       asm volatile("ld.u64 %0, [%1];" : "=l"(g) : "l"(in + 4 * t));
       asm volatile("st.global.cs.v2.u32 [%0], {%1, %2};" :: "l"(out + 8 * t), "r"(a), "r"(b));
       unsigned r[6] = {c, d, e, (unsigned)g, (unsigned)(g >> 32), ((unsigned *)__cvta_shared_to_generic(s + 16 * t))[3]};
       for (int i = 0; i < 6; ++i) out[8 * t + 2 + i] = r[i];
     })",
     .block = {64},
     .expected = each<U>(512, [](int i) {
       auto in = [](int at) { return U(at) * 2654435761u; };
       int t = i / 8;
       switch (i % 8) {
       case 0: return in(4 * (63 - t) + 2);
       case 1: return in(4 * (63 - t) + 3);
       case 2: return in(4 * t) >> 8 & 255;
       case 3: return U(int32_t(in(4 * t)) >> 16);
       case 4: return in(4 * t + 1);
       case 5: return in(4 * t);
       case 6: return in(4 * t + 1);
       default: return in(4 * t + 3);
       }
     }),
     .in = each<U>(256, [](int i) { return U(i) * 2654435761u; })},
    {.name = "VectorsOfOneRegisterAndOfNumbers",
     .cuda = R"(__global__ void k(float *out, const float *in) {
       __shared__ float4 s[64]; int t = threadIdx.x; float a, b, c, d; unsigned at = (unsigned)__cvta_generic_to_shared(s) + 16 * t;
       asm volatile("st.shared.v4.f32 [%0], {%1, %1, %1, %1};" :: "r"(at), "f"(in[t]) : "memory");
       if (t % 3 == 0) asm volatile("st.shared.v4.b32 [%0], {0, 0x3f800000, 0, %1};" :: "r"(at), "f"(in[t] + 1));
       asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "r"(at));
       asm volatile("st.global.v4.f32 [%0], {%4, %3, %2, %1};" :: "l"(out + 4 * t), "f"(a), "f"(b), "f"(c), "f"(d)); })",
     .block = {64}, .expected = each<float>(256, [](int i) {
       int t = i / 4;
       return t % 3 ? float(t) : i % 4 == 0 ? float(t + 1) : i % 4 == 2 ? 1.0f : 0.0f;
     }), .in = each<float>(64, [](int i) { return float(i); }), .ways = Ways::More},
    {.name = "CopiesOfFourEightAndSixteenBytes",
     .cuda = R"(__global__ void k(unsigned *out, const unsigned *in) {
       __shared__ alignas(16) unsigned tile[7 * 64];
       unsigned t = threadIdx.x, s16 = (unsigned)__cvta_generic_to_shared(tile) + 16 * t;
       asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n" :: "r"(s16), "l"(in + 4 * t));
       asm volatile("cp.async.ca.shared.global [%0], [%1], %2;\n" :: "r"(s16 - 16 * t + 1024 + 8 * t), "l"(in + 2 * t), "n"(8));
       asm volatile("cp.async.ca.shared.global [%0 + 1536], [%1], 4;\n" :: "r"(s16 - 12 * t), "l"(in + t) : "memory");
       asm volatile("cp.async.commit_group;\n" ::: "memory");
       asm volatile("cp.async.wait_group %0;\n" :: "n"(0)); asm volatile("cp.async.wait_all;");
       __syncthreads();
       for (int i = 0; i < 7; ++i) out[i * 64 + t] = tile[(i * 64 + t)];
     })",
     .block = {64},
     .expected = each<U>(448, [](int i) { return U(i < 256 ? i : i < 384 ? i - 256 : i - 384) * 3; }),
     .in = each<U>(256, [](int i) { return U(i) * 3; })},
    {.name = "ACopyFillsUpWithZerosAndReadsNoMoreThanItsSource", // the buffer's end is the end of memory
     .cuda = R"(extern __shared__ unsigned char tile[];
     __global__ void k(unsigned char *out, const unsigned char *in) {
       int t = threadIdx.x, left = 777 - 16 * t, size = left < 0 ? 0 : left < 16 ? left : 16;
       unsigned s = (unsigned)__cvta_generic_to_shared(tile + 16 * t);
       for (int i = 0; i < 16; ++i) tile[16 * t + i] = 99;
       asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(s), "l"(in + (size ? 16 * t : 0)), "r"(size));
       asm volatile("cp.async.wait_all;"); __syncthreads();
       for (int i = 0; i < 16; ++i) out[16 * t + i] = tile[16 * t + i];
     })",
     .block = {64},
     .expected = each<uint8_t>(1024, [](int i) { return uint8_t(i < 777 ? i * 7 : 0); }),
     .in = each<uint8_t>(777, [](int i) { return uint8_t(i * 7); }),
     .shared = 1024},
    {.name = "AGuardedLoadKeepsWhatWasThere", // as CUTLASS writes it: the pointer of who may not load is nowhere
     .cuda = R"(__global__ void k(unsigned *out, const unsigned *in) {
       unsigned r[4], t = threadIdx.x; bool mayLoad = t % 5 != 0;
       asm volatile("{\n  .reg .pred p;\n  setp.ne.b32 p, %5, 0;\n  mov.b32 %0, %6;\n  mov.b32 %1, %7;\n  mov.b32 %2, %8;\n  mov.b32 %3, %9;\n"
                    "  @p ld.global.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];\n}\n"
                    : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                    : "l"(mayLoad ? in + 4 * t : nullptr), "r"((int)mayLoad), "r"(7), "r"(8), "r"(9), "r"(t));
       unsigned all; asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(all) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "n"((0xf0 & 0xcc) | 0xaa));
       out[2 * t] = all; out[2 * t + 1] = r[3]; })",
     .block = {64},
     .expected = each<U>(128, [](int i) {
       U t = U(i) / 2, r[] = {7, 8, 9, t};
       for (U k = 0; k < 4 && t % 5; ++k)
         r[k] = 4 * t + k;
       return i % 2 ? r[3] : (r[0] & r[1]) | r[2];
     }),
     .in = each<U>(256, [](int i) { return U(i); }),
     .ways = Ways::More},
    {.name = "AGuardedCopy",
     .cuda = R"(__global__ void k(int *out, const int *in) {
       __shared__ int4 tile[64]; int t = threadIdx.x;
       tile[t] = make_int4(-1, -2, -3, -4);
       asm volatile("{\n  .reg .pred p;\n  setp.ne.b32 p, %0, 0; // copies only where asked\n"
                    "  @p cp.async.ca.shared.global [%1], [%2], %3;\n}\n"
                    :: "r"(t % 3), "r"((unsigned)__cvta_generic_to_shared(&tile[t])), "l"(in + 4 * t), "n"(16));
       __syncthreads();
       for (int i = 0; i < 4; ++i) out[4 * t + i] = (&tile[t].x)[i];
     })",
     .block = {64},
     .expected = each<int>(256, [](int i) { return i / 4 % 3 ? i : -1 - i % 4; }),
     .in = each<int>(256, [](int i) { return i; }),
     .ways = Ways::More},
    {.name = "NumbersOfStaticAndDynamicArrays", // chosen at run time, swizzled by xor, and back
     .cuda = R"(extern __shared__ int dynamic[];
     __global__ void k(int *out) {
       __shared__ int first[100]; __shared__ alignas(1024) int second[256]; int t = threadIdx.x;
       unsigned bases[3] = {(unsigned)__cvta_generic_to_shared(dynamic), (unsigned)__cvta_generic_to_shared(first),
                            (unsigned)__cvta_generic_to_shared(t % 2 ? second : dynamic + 64)};
       for (int i = 0; i < 64; ++i) { if (t < 64) { dynamic[t] = first[t] = -1; dynamic[64 + t] = second[t] = -2; } }
       __syncthreads();
       asm volatile("st.shared.u32 [%0], %1;" :: "r"(bases[t / 64] + (4 * (t % 64) ^ (t / 64 == 0 ? 32 : 0))), "r"(t));
       __syncthreads();
       out[t] = t < 64 ? dynamic[t] : t < 128 ? first[t - 64] : t % 2 ? second[t - 128] : dynamic[64 + t - 128];
       asm("{ .reg .u64 p; cvta.shared.u64 p, %1; ld.u32 %0, [p]; }" : "=r"(out[192 + t]) : "l"((unsigned long long)bases[t / 64] + 4 * (t % 64)));
     })",
     .block = {192},
     .expected = each<int>(384, [](int i) {
       int t = i % 192;
       return t < 64 ? t ^ 8 : t;
     }),
     .shared = 512},
    {.name = "AtomicsAndFences",
     .cuda = R"(__global__ void k(unsigned *out) {
       __shared__ unsigned word; int t = threadIdx.x; unsigned old;
       if (t == 0) word = 0;
       __syncthreads();
       unsigned s = (unsigned)__cvta_generic_to_shared(&word);
       asm volatile("red.shared.add.u32 [%0], %1;" :: "r"(s), "r"(t) : "memory");
       asm volatile("red.release.gpu.global.add.s32 [%0], 2;" :: "l"(out) : "memory");
       asm volatile("red.global.max.u32 [%0 + 4], %1;" :: "l"(out), "r"(t * 5) : "memory");
       asm volatile("red.global.add.f32 [%0], %1;" :: "l"(out + 2), "f"(0.5f) : "memory");
       asm volatile("atom.global.inc.u32 %0, [%1], 9;" : "=r"(old) : "l"(out + 3) : "memory");
       asm volatile("membar.gl; fence.acq_rel.gpu; membar.cta;" ::: "memory");
       __syncthreads();
       if (t == 0) {
         asm volatile("atom.shared.cas.b32 %0, [%1], 2016, 7;" : "=r"(old) : "r"(s));
         out[4] = old; out[5] = word;
         asm volatile("atom.global.exch.b32 %0, [%1], 8;" : "=r"(old) : "l"(out + 5));
         asm volatile("st.release.gpu.global.u32 [%0], %1;" :: "l"(out + 6), "r"(old));
         asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(out[7]) : "l"(out + 5));
       }
     })",
     .block = {64},
     .expected = listed<U>({128, 315, 0x42000000, 4, 2016, 8, 7, 8})},
};
SEMANTICS(PtxMemory, memory);

const std::vector<Case> together = {
    {.name = "ShufflesSayWhetherTheyReached",
     .cuda = R"(__global__ void k(unsigned *out) {
       unsigned t = threadIdx.x, v = t * 3, r[8];
       asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 3, 0, -1; selp.u32 %1, 1, 0, p; }" : "=r"(r[0]), "=r"(r[1]) : "r"(v));
       asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, %3, 0x181f, 0xffffffff; selp.u32 %1, 1, 0, p; }" : "=r"(r[2]), "=r"(r[3]) : "r"(v), "r"(5));
       asm volatile("shfl.sync.bfly.b32 %0, %1, 0x10, 0x1f, 0xffffffff;" : "=r"(r[4]) : "r"(v));
       asm volatile("{ .reg .pred p; shfl.sync.idx.b32 %0|p, %2, %3, 0x1f, -1; selp.u32 %1, 1, 0, p; }" : "=r"(r[5]), "=r"(r[6]) : "r"(v), "r"(t + 7));
       asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 5; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(r[7]) : "r"(t % 32));
       for (int i = 0; i < 8; ++i) out[8 * t + i] = r[i];
     })",
     .block = {64},
     .expected = each<U>(512, [](int i) {
       U t = U(i) / 8, lane = t % 32, warp = t - lane;
       switch (i % 8) {
       case 0: return 3 * (lane < 3 ? t : t - 3);
       case 1: return U(lane >= 3);
       case 2: return 3 * (lane % 8 < 3 ? t + 5 : t);
       case 3: return U(lane % 8 < 3);
       case 4: return 3 * (t ^ 16);
       case 5: return 3 * (warp + (t + 7) % 32);
       case 6: return 1u;
       default: return 31u;
       }
     })},
    {.name = "VotesMatchesAndReductions",
     .cuda = R"(__global__ void k(unsigned *out) {
       unsigned t = threadIdx.x, r[7];
       asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 40; vote.sync.all.pred q, p, -1; selp.u32 %0, 1, 0, q; }" : "=r"(r[0]) : "r"(t));
       asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 40; vote.sync.any.pred q, !p, -1; selp.u32 %0, 1, 0, q; }" : "=r"(r[1]) : "r"(t));
       asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 40; vote.sync.uni.pred q, p, -1; selp.u32 %0, 1, 0, q; }" : "=r"(r[2]) : "r"(t));
       asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(r[3]) : "r"(t % 16));
       asm volatile("redux.sync.add.s32 %0, %1, -1;" : "=r"(r[4]) : "r"(t));
       asm volatile("redux.sync.min.s32 %0, %1, -1;" : "=r"(r[5]) : "r"(t - 40));
       asm volatile("activemask.b32 %0; bar.warp.sync 0xffffffff;" : "=r"(r[6]));
       for (int i = 0; i < 7; ++i) out[7 * t + i] = r[i];
     })",
     .block = {64},
     .expected = each<U>(448, [](int i) {
       int t = i / 7, warp = t / 32;
       U r[] = {U(!warp), U(warp), U(!warp), 0x10001u << t % 16, U(warp ? 1520 : 496), U(warp ? -8 : -40), ~0u};
       return r[i % 7];
     })},
    {.name = "SpecialRegisters",
     .cuda = R"(__global__ void k(unsigned *out) {
       unsigned r[12]; unsigned long long c, d;
       asm("mov.u32 %0, %%tid.x; mov.u32 %1, %%tid.y;\n\tmov.u32 %2, %%ntid.x; mov.u32 %3, %%ctaid.x;" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]));
       asm("mov.u32 %0, %%nctaid.x;" : "=r"(r[4])); asm("mov.u32 %0, %%laneid;" : "=r"(r[5])); asm("mov.u32 %0, %%warpid;" : "=r"(r[6]));
       asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r[7])); asm("mov.u32 %0, %%lanemask_ge;" : "=r"(r[8]));
       asm("mov.u32 %0, %%lanemask_eq;" : "=r"(r[9])); asm volatile("mov.u32 %0, %%smid;" : "=r"(r[10])); asm("mov.u32 %0, WARP_SZ;" : "=r"(r[11]));
       asm volatile("mov.u64 %0, %%clock64;" : "=l"(c)); asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(d));
       unsigned t = (blockIdx.x * 5 + threadIdx.y) * 16 + threadIdx.x;
       r[10] += (c == 0) + (d < c && false);
       for (int i = 0; i < 12; ++i) out[12 * t + i] = r[i];
     })",
     .block = {16, 5}, .grid = {2},
     .expected = each<U>(160 * 12, [](int i) {
       U t = U(i) / 12, own = t % 80, lane = own % 32;
       U r[] = {t % 16, own / 16, 16, t / 80, 2, lane, own / 32, (1u << lane) - 1, ~((1u << lane) - 1), 1u << lane, 0, 32};
       return r[i % 12];
     })},
    {.name = "BarriersOfTheWholeBlock",
     .cuda = R"(__global__ void k(int *out) {
       __shared__ int s[96]; int t = threadIdx.x;
       s[t] = t; asm volatile("bar.sync 0;" ::: "memory");
       int a = s[95 - t]; asm volatile("barrier.sync.aligned 0, 96;" ::: "memory");
       s[t] = a + 1; asm volatile("bar.sync 0, %0;" :: "r"(blockDim.x) : "memory");
       out[t] = s[(t + 40) % 96]; })",
     .block = {96},
     .expected = each<int>(96, [](int t) { return 96 - (t + 40) % 96; }),
     .ways = Ways::More},
    {.name = "ABarrierOfSomeThreads",
     .cuda = "__global__ void k(int *out) { asm volatile(\"bar.sync 0, 64;\"); out[threadIdx.x] = 1; }",
     .block = {96}, .refused = "a barrier of part of a block's threads"},
};
SEMANTICS(PtxTogether, together);
} // namespace
} // namespace opsight::lower
