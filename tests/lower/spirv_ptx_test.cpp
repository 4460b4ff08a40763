// Inline PTX on OpenCL cards: what is plain arithmetic, memory and shuffles runs; products of matrices are named.
#include "lower/opencl_run.h"
#include <algorithm>

namespace opsight::lower {
namespace {

class SpirvPtx : public OnOpenCl {
protected:
  void expectRefused(const std::string &source, const std::string &words, unsigned line) {
    auto artifact = lowered({source}, {32});
    ASSERT_FALSE(artifact) << "is not refused";
    EXPECT_EQ(artifact.error().kind, ErrorKind::Unsupported) << describe(artifact.error());
    EXPECT_NE(artifact.error().what.find(words), std::string::npos) << artifact.error().what;
    EXPECT_EQ(artifact.error().where.line, line) << describe(artifact.error());
  }
};
INSTANTIATE_TEST_SUITE_P(Drivers, SpirvPtx, everywhere(), whereName);

TEST_P(SpirvPtx, ArithmeticGuardsCopiesAndShuffles) {
  const char *source = R"(__global__ void k(unsigned *out, const unsigned *in) {
    __shared__ uint4 tile[64]; unsigned t = threadIdx.x, r[5];
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 40; @p cp.async.cg.shared.global [%0], [%2], 16; @!p st.shared.v4.u32 [%0], {%1, 1, 2, 3}; }"
                 :: "r"((unsigned)__cvta_generic_to_shared(tile + t)), "r"(t), "l"(in + 4 * t) : "memory");
    asm volatile("cp.async.wait_all; bar.sync 0, 64;" ::: "memory");
    asm("lop3.b32 %0, %1, %2, 0xff00ff, 0xe2;" : "=r"(r[0]) : "r"(tile[63 - t].x), "r"(tile[t].w));
    asm("prmt.b32 %0, %1, %2, 0x7531;" : "=r"(r[1]) : "r"(tile[t].y), "r"(tile[t].z));
    asm("bfe.u32 %0, %1, 4, 9;" : "=r"(r[2]) : "r"(in[t]));
    asm volatile("shfl.sync.bfly.b32 %0, %1, 3, 0x1f, -1;" : "=r"(r[3]) : "r"(t));
    asm("mov.u32 %0, %%laneid;" : "=r"(r[4]));
    for (int i = 0; i < 5; ++i) out[5 * t + i] = r[i];
  })";
  std::vector<uint32_t> in(256);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = uint32_t(i) * 2654435761u;
  auto *out = buffer(std::vector<uint32_t>(320)), *from = buffer(in);
  run({source}, {.block = {64}}, {out, from});
  auto tile = [&](uint32_t t, uint32_t i) { return t < 40 ? in[4 * t + i] : i ? i : t; };
  auto got = contents<uint32_t>(out);
  for (uint32_t t = 0; t < 64; ++t) {
    uint32_t a = tile(63 - t, 0), b = tile(t, 3), c = 0xff00ff, y = tile(t, 1), z = tile(t, 2);
    EXPECT_EQ(got[5 * t], (a & b) | (~b & c)) << t; // 0xe2: b ? a : c
    EXPECT_EQ(got[5 * t + 1], (y >> 8 & 0xff) | (y >> 24) << 8 | (z >> 8 & 0xff) << 16 | (z >> 24) << 24) << t;
    EXPECT_EQ(got[5 * t + 2], in[t] >> 4 & 511) << t;
    EXPECT_EQ(got[5 * t + 3], t ^ 3) << t;
    EXPECT_EQ(got[5 * t + 4], t % 32) << t;
  }
}

TEST_P(SpirvPtx, ProductsOfMatricesAreNamedWithTheirLine) {
  expectRefused("__global__ void k(float *out) {\n  float d[4] = {}; unsigned a = threadIdx.x;\n"
                "  asm volatile(\"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4}, {%4}, {%0, %1, %2, %3};\"\n"
                "               : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : \"r\"(a));\n  out[threadIdx.x] = d[0];\n}",
                "mma.sync", 3);
  expectRefused("#include <mma.h>\nusing namespace nvcuda;\n__global__ void k(float *out) {\n"
                "  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;\n"
                "  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;\n"
                "  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;\n"
                "  wmma::fill_fragment(a, 1.0f); wmma::fill_fragment(b, 1.0f); wmma::fill_fragment(c, 0.0f);\n"
                "  wmma::mma_sync(c, a, b, c);\n  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);\n}",
                "mma.sync", 8);
}

TEST_P(SpirvPtx, NumbersOfPlacesThatAreNoSumsAreNamed) {
  expectRefused("__global__ void k(int *out) {\n  __shared__ int s[64];\n  unsigned n = (unsigned)__cvta_generic_to_shared(s + threadIdx.x);\n"
                "  asm volatile(\"st.shared.u32 [%0], 1;\" :: \"r\"(n ^ 16));\n  __syncthreads();\n  out[threadIdx.x] = s[threadIdx.x];\n}",
                "an address of shared memory as a number", 3);
}
} // namespace
} // namespace opsight::lower
