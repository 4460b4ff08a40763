// Matrices that a warp holds together, on the warp machine: mma.sync and ldmatrix against a plain loop, with fragments
// laid out by the PTX ISA's formulas ("Matrix Fragments for mma.m16n8k16" and its neighbours); and wmma of mma.h.
#include "lower/semantic_case.h"

namespace opsight::lower {
namespace {

// Small whole numbers, all products and sums of which are exact, so that one wrong place shows: A(r, k), B(k, c), C(r, c).
int ofA(int r, int k) { return (r * 7 + k * 3 + r * k) % 13 - 6; }
int ofB(int k, int c) { return (k * 5 + c * 11 + k * k * c) % 9 - 4; }
int ofC(int r, int c) { return r * 8 + c - 60; }
int product(int r, int c, int depth) {
  int sum = ofC(r, c);
  for (int k = 0; k < depth; ++k)
    sum += ofA(r, k) * ofB(k, c);
  return sum;
}
const std::string entries = R"(#include <cuda_fp16.h>
#include <cuda_bf16.h>
__device__ int ofA(int r, int k) { return (r * 7 + k * 3 + r * k) % 13 - 6; }
__device__ int ofB(int k, int c) { return (k * 5 + c * 11 + k * k * c) % 9 - 4; }
__device__ int ofC(int r, int c) { return r * 8 + c - 60; }
__device__ unsigned f16(int v) { return __half_as_ushort(__half(v)); }
__device__ unsigned bf16(int v) { return __bfloat16_as_ushort(__nv_bfloat16(v)); }
__device__ unsigned tf32(int v) { return __float_as_uint(float(v)) | 0x1abc; } // the low 13 bits do not count
__device__ unsigned s8(int v) { return unsigned(v) & 255; }
)";

struct Product {
  const char *name, *element; // f16, bf16, tf32, s8
  const char *sum;            // f32, f16, s32
  int depth, perWord;
};

/// Each lane packs its words by the ISA's formulas: groupID = lane / 4, threadID = lane % 4.
Case productOf(const Product &p) {
  int words = p.depth / (4 * p.perWord), bits = 32 / p.perWord;
  bool ofHalf = std::string(p.sum) == "f16", ofInts = std::string(p.sum) == "s32";
  std::string type = ofHalf ? "unsigned" : ofInts ? "int" : "float";
  int sums = ofHalf ? 2 : 4;
  std::string cuda = entries + fmt::format(R"(__global__ void k(float *out) {{
    int g = threadIdx.x / 4, t = threadIdx.x % 4; unsigned a[{0}] = {{}}, b[{1}] = {{}}; {2} c[4], d[4];
    for (int w = 0; w < {1}; ++w)
      for (int i = 0; i < {3}; ++i) {{
        int k = w * {4} + t * {3} + i;
        a[2 * w] |= {5}(ofA(g, k)) << i * {6}; a[2 * w + 1] |= {5}(ofA(g + 8, k)) << i * {6}; b[w] |= {5}(ofB(k, g)) << i * {6};
      }}
    )", 2 * words, words, type, p.perWord, 4 * p.perWord, p.element, bits);
  cuda += ofHalf ? "for (int h = 0; h < 2; ++h) c[h] = f16(ofC(g + 8 * h, 2 * t)) | f16(ofC(g + 8 * h, 2 * t + 1)) << 16;\n"
                 : "for (int i = 0; i < 4; ++i) c[i] = ofC(g + i / 2 * 8, 2 * t + i % 2);\n";
  std::string constraint = ofHalf || ofInts ? "r" : "f", list[4], outputs, inputs;
  int number = 0;
  for (auto [which, count] : {std::pair(0, sums), {1, 2 * words}, {2, words}, {3, sums}})
    for (int i = 0; i < count; ++i, ++number) {
      list[which] += fmt::format("{}%{}", i ? ", " : "", number);
      if (which == 0)
        outputs += fmt::format("{}\"={}\"(d[{}])", i ? ", " : "", constraint, i);
      else
        inputs += fmt::format("{}\"{}\"({}[{}])", inputs.empty() ? "" : ", ", which == 3 ? constraint : "r", "dabc"[which], i);
    }
  cuda += fmt::format("asm volatile(\"mma.sync.aligned.m16n8k{}.row.col.{}.{}.{}.{} \"\n\"{{{}}}, {{{}}}, {{{}}}, {{{}}};\\n\" : {} : {});\n",
                      p.depth, p.sum, p.element, p.element, p.sum, list[0], list[1], list[2], list[3], outputs, inputs);
  cuda += "for (int i = 0; i < 4; ++i) out[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = ";
  cuda += ofHalf ? "float(__ushort_as_half((unsigned short)(d[i / 2] >> i % 2 * 16)));\n}" : "d[i];\n}";
  return {.name = p.name,
          .cuda = cuda,
          .block = {32},
          .expected = each<float>(128, [depth = p.depth](int i) { return float(product(i / 8, i % 8, depth)); }),
          .ways = Ways::More};
}

std::vector<Case> products() {
  return {productOf({"HalfDepth16", "f16", "f32", 16, 2}),    productOf({"HalfDepth8", "f16", "f32", 8, 2}),
          productOf({"HalfSumsDepth16", "f16", "f16", 16, 2}), productOf({"HalfSumsDepth8", "f16", "f16", 8, 2}),
          productOf({"BFloatDepth16", "bf16", "f32", 16, 2}), productOf({"BFloatDepth8", "bf16", "f32", 8, 2}),
          productOf({"TFloatDepth8", "tf32", "f32", 8, 1}),   productOf({"TFloatDepth4", "tf32", "f32", 4, 1}),
          productOf({"BytesDepth32", "s8", "s32", 32, 4}),    productOf({"BytesDepth16", "s8", "s32", 16, 4})};
}
SEMANTICS(MatrixProducts, products());

const std::vector<Case> loads = {
    {.name = "FourMatricesAndTheirTransposes",
     .cuda = R"(__global__ void k(unsigned *out) {
       __shared__ alignas(16) unsigned short s[4 * 64 + 8]; unsigned r[8]; int t = threadIdx.x;
       for (int i = t; i < 256; i += 32) s[8 + i] = i;
       __syncwarp();
       unsigned row = (unsigned)__cvta_generic_to_shared(s + 8 + t * 8); // lane 8 m + r: row r of matrix m
       asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row));
       asm volatile("ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]) : "r"(row));
       for (int i = 0; i < 8; ++i) out[8 * t + i] = r[i];
     })",
     .block = {32},
     .expected = each<uint32_t>(256, [](int i) {
       int lane = i / 8, first = i % 4 * 64;
       auto at = [&](int r, int c) { return uint32_t(first + 8 * r + c); };
       int g = lane / 4, c = 2 * (lane % 4);
       return i % 8 < 4 ? at(g, c) | at(g, c + 1) << 16 : at(c, g) | at(c + 1, g) << 16;
     }),
     .ways = Ways::More},
    {.name = "OneAndTwoMatricesAskOnlyTheirOwnLanes", // the others' addresses are nowhere
     .cuda = R"(__global__ void k(unsigned *out) {
       __shared__ alignas(16) unsigned short s[256]; unsigned r[3]; int t = threadIdx.x;
       for (int i = t; i < 256; i += 32) s[i] = i;
       __syncwarp();
       unsigned row = (unsigned)__cvta_generic_to_shared(s) + t * 16;
       asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1 + 128];" : "=r"(r[0]) : "r"(t < 8 ? row : 0x7ffffff0u));
       asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2];" : "=r"(r[1]), "=r"(r[2]) : "r"(t < 16 ? row : 0x7ffffff0u));
       for (int i = 0; i < 3; ++i) out[3 * t + i] = r[i];
     })",
     .block = {32},
     .expected = each<uint32_t>(96, [](int i) {
       int g = i / 3 / 4, c = 2 * (i / 3 % 4);
       auto at = [&](int matrix, int r, int k) { return uint32_t(64 * matrix + 8 * r + k); };
       return i % 3 == 0 ? at(1, g, c) | at(1, g, c + 1) << 16 : at(i % 3 - 1, c, g) | at(i % 3 - 1, c + 1, g) << 16;
     })},
    {.name = "AProductFedByCopiesAndLoads", // cp.async, ldmatrix, mma: 32 × 32 from 32 × 48, 48 × 32; a warp a quarter
     .cuda = entries + R"(
     __global__ void k(float *out, const unsigned short *in) {
       extern __shared__ unsigned short tile[]; // A 32 × 48, then B 48 × 32, rows padded by 8
       unsigned short *b = tile + 32 * 56; int t = threadIdx.x, warp = t / 32, lane = t % 32;
       for (int i = t; i < 32 * 6; i += 128)
         asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(tile + i / 6 * 56 + i % 6 * 8)), "l"(in + i * 8));
       for (int i = t; i < 48 * 4; i += 128)
         asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(b + i / 4 * 40 + i % 4 * 8)), "l"(in + 1536 + i * 8));
       asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
       __syncthreads();
       int row = warp / 2 * 16, column = warp % 2 * 16; float d[2][4] = {};
       for (int k = 0; k < 48; k += 16) {
         unsigned x[4], y[4];
         asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                      : "r"((unsigned)__cvta_generic_to_shared(tile + (row + lane % 16) * 56 + k + lane / 16 * 8)));
         asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3])
                      : "r"((unsigned)__cvta_generic_to_shared(b + (k + lane % 16) * 40 + column + lane / 16 * 8)));
         for (int n = 0; n < 2; ++n)
           asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                        : "+f"(d[n][0]), "+f"(d[n][1]), "+f"(d[n][2]), "+f"(d[n][3])
                        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * n]), "r"(y[2 * n + 1]));
       }
       for (int n = 0; n < 2; ++n)
         for (int i = 0; i < 4; ++i) out[(row + lane / 4 + i / 2 * 8) * 32 + column + n * 8 + lane % 4 * 2 + i % 2] = d[n][i];
     })",
     .block = {128},
     .expected = each<float>(1024, [](int i) {
       int sum = 0;
       for (int k = 0; k < 48; ++k)
         sum += ofA(i / 32, k) * ofB(k, i % 32);
       return float(sum);
     }),
     .in = each<_Float16>(3072, [](int i) {
       return _Float16(i < 1536 ? ofA(i / 48, i % 48) : ofB((i - 1536) / 32, i % 32));
     }),
     .shared = 2 * (32 * 56 + 48 * 40),
     .ways = Ways::More},
    {.name = "ProductsOfThreeWarpsOfFour", // under a branch that is the warp's own
     .cuda = entries + R"(__global__ void k(float *out) {
       int warp = threadIdx.x / 32, lane = threadIdx.x % 32; float d[4] = {1, 2, 3, 4}; unsigned one = f16(1) * 0x10001u;
       if (warp < 3)
         asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(one * (lane / 4 == 0)), "r"(one), "r"(one));
       for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = d[i];
     })",
     .block = {128},
     .expected = each<float>(512, [](int i) {
       bool isAdded = i / 128 < 3 && (i % 4 >= 2 || i / 4 % 32 / 4 == 0);
       return float(i % 4 + 1) + (isAdded ? 8 : 0);
     })},
};
SEMANTICS(MatrixLoads, loads);

struct Fragments {
  const char *name, *element, *sum; // as C++ writes them
  int m, n, k;
  const char *layoutA, *layoutB, *layoutC;
};

/// D = A B + C, then 2 D - 1 by elements, all through memory: A with a leading dimension of k + 8 or m + 8, and so on.
Case wmmaOf(const Fragments &f) {
  bool byColumns[] = {std::string(f.layoutA) == "col_major", std::string(f.layoutB) == "col_major", std::string(f.layoutC) == "mem_col_major"};
  std::string element = f.element, kept = element == "wmma::precision::tf32" ? "float" : element;
  std::string cuda = entries + fmt::format(R"(#include <mma.h>
    using namespace nvcuda;
    __device__ {0} a[4096], b[4096]; __device__ {1} c[4096];
    __global__ void k(float *out) {{
      constexpr int M = {2}, N = {3}, K = {4};
      for (int i = threadIdx.x; i < M * K; i += 32) a[{5}] = ({0})(float)ofA(i / K, i % K);
      for (int i = threadIdx.x; i < K * N; i += 32) b[{6}] = ({0})(float)ofB(i / N, i % N);
      for (int i = threadIdx.x; i < M * N; i += 32) c[{7}] = ({1})(float)ofC(i / N, i % N);
      __syncwarp();
      wmma::fragment<wmma::matrix_a, M, N, K, {8}, wmma::{9}> x; wmma::fragment<wmma::matrix_b, M, N, K, {8}, wmma::{10}> y;
      wmma::fragment<wmma::accumulator, M, N, K, {1}> z, one;
      wmma::load_matrix_sync(x, a, {11}); wmma::load_matrix_sync(y, b, {12}); wmma::load_matrix_sync(z, c, {13}, wmma::{14});
      wmma::fill_fragment(one, ({1})1.0f);
      wmma::mma_sync(z, x, y, z);
      for (int i = 0; i < z.num_elements; ++i) z.x[i] = z.x[i] + z.x[i] - one.x[i];
      wmma::store_matrix_sync(c, z, {13}, wmma::{14});
      __syncwarp();
      for (int i = threadIdx.x; i < M * N; i += 32) out[i] = (float)c[{7}];
    }})",
    kept, f.sum, f.m, f.n, f.k, byColumns[0] ? "i % K * (M + 8) + i / K" : "i / K * (K + 8) + i % K",
    byColumns[1] ? "i % N * (K + 8) + i / N" : "i / N * (N + 8) + i % N", byColumns[2] ? "i % N * (M + 4) + i / N" : "i / N * (N + 4) + i % N",
    element, f.layoutA, f.layoutB, byColumns[0] ? "M + 8" : "K + 8", byColumns[1] ? "K + 8" : "N + 8", byColumns[2] ? "M + 4" : "N + 4", f.layoutC);
  return {.name = f.name,
          .cuda = cuda,
          .block = {32},
          .expected = each<float>(size_t(f.m) * f.n, [f](int i) {
            int sum = ofC(i / f.n, i % f.n);
            for (int k = 0; k < f.k; ++k)
              sum += ofA(i / f.n, k) * ofB(k, i % f.n);
            return float(2 * sum - 1);
          })};
}

std::vector<Case> fragments() {
  const char *row = "row_major", *column = "col_major", *byRow = "mem_row_major", *byColumn = "mem_col_major";
  return {wmmaOf({"Half", "half", "float", 16, 16, 16, row, row, byRow}),
          wmmaOf({"HalfByColumns", "half", "float", 16, 16, 16, column, column, byColumn}),
          wmmaOf({"HalfSums", "half", "half", 16, 16, 16, row, column, byRow}),
          wmmaOf({"HalfTall", "half", "float", 32, 8, 16, row, column, byColumn}),
          wmmaOf({"HalfWide", "half", "float", 8, 32, 16, column, row, byRow}),
          wmmaOf({"BFloat", "__nv_bfloat16", "float", 16, 16, 16, row, column, byRow}),
          wmmaOf({"BFloatWide", "__nv_bfloat16", "float", 8, 32, 16, row, row, byColumn}),
          wmmaOf({"TFloat", "wmma::precision::tf32", "float", 16, 16, 8, row, column, byRow}),
          wmmaOf({"TFloatByColumns", "wmma::precision::tf32", "float", 16, 16, 8, column, row, byColumn}),
          wmmaOf({"Bytes", "signed char", "int", 16, 16, 16, row, column, byRow})};
}
SEMANTICS(MatrixFragments, fragments());

const std::vector<Case> wmmaUses = {
    {.name = "RoundingToTf32", // to nearest, halves away from zero; the product ignores what stays
     .cuda = R"(#include <mma.h>
     __global__ void k(float *out) { out[threadIdx.x] = nvcuda::wmma::__float_to_tf32((threadIdx.x % 2 ? -1 : 1) * (1 + threadIdx.x * 0x1p-12f)); })",
     .block = {32},
     .expected = each<float>(32, [](int t) { return (t % 2 ? -1.0f : 1.0f) * (1 + float((t + 2) / 4) * 0x1p-10f); })},
    {.name = "SumsOfOtherWidthThanTheirStart",
     .cuda = R"(#include <mma.h>
     using namespace nvcuda;
     __global__ void k(float *out) {
       wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a; wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
       wmma::fragment<wmma::accumulator, 16, 16, 16, float> c, e; wmma::fragment<wmma::accumulator, 16, 16, 16, half> d;
       wmma::fill_fragment(a, 1.0f); wmma::fill_fragment(b, half(2.0f)); wmma::fill_fragment(c, 2048.5f);
       wmma::mma_sync(d, a, b, c); // 2080.5, in half 2080
       wmma::mma_sync(e, a, b, d);
       wmma::store_matrix_sync(out, e, 16, wmma::mem_row_major);
     })",
     .block = {32}, .expected = all<float>(256, 2112)},
};
SEMANTICS(MatrixRounding, wmmaUses);

Case refusal(const char *name, const char *text, const char *words) {
  return {.name = name, .cuda = fmt::format("__global__ void k(float *out) {{\n  unsigned a = 0; float f = 0;\n  {}\n  out[0] = a + f;\n}}", text),
          .block = {32}, .refused = words};
}
const std::vector<Case> refusals = {
    refusal("MbarrierCopies", R"(asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" :: "r"(a));)", "'cp.async.mbarrier.arrive.shared.b64' has no translation"),
    refusal("BulkCopies", R"(asm volatile("cp.async.bulk.commit_group;");)", "'cp.async.bulk.commit_group'"),
    refusal("CopiesOfAnotherSize", R"(asm volatile("cp.async.cg.shared.global [%0], [%1], 8;" :: "r"(a), "l"(out));)", "it copies 4, 8 or 16 bytes"),
    refusal("OtherShapes", R"(asm volatile("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%0,%0,%0,%0,%0,%0,%0}, {%1,%1}, {%1,%1}, {%0,%0,%0,%0,%0,%0,%0,%0};" : "+f"(f) : "r"(a));)", "'mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32' has no translation"),
    refusal("OtherLayouts", R"(asm volatile("mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32 {%0,%0,%0,%0}, {%1,%1}, {%1}, {%0,%0,%0,%0};" : "+f"(f) : "r"(a));)", "no such product of matrices"),
    refusal("TooFewRegisters", R"(asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%0,%0,%0}, {%1,%1}, {%1,%1}, {%0,%0,%0,%0};" : "+f"(f) : "r"(a));)", "operand 2 needs 4 registers"),
    refusal("OtherBarriers", R"(asm volatile("bar.sync 1;");)", "only barrier 0 is there"),
    refusal("Branches", R"(asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0; @p bra DONE; mov.u32 %0, 1; DONE: }" : "+r"(a));)", "inline PTX that cannot be read: 'DONE: }' where an instruction, not a label, should be"),
    refusal("DirectedRounding", R"(asm volatile("add.rz.f32 %0, %0, %0;" : "+f"(f));)", "'add.rz.f32' has no translation"),
    refusal("WideOperands", R"(asm volatile("add.u64 %0, %0, %0;" : "+r"(a));)", "'$0' is narrower than the instruction's type"),
};
SEMANTICS(PtxRefusals, refusals);
} // namespace
} // namespace opsight::lower
