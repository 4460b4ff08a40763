// The IR keeps the promises of src/cuda/module.h, on which the lowerings rely.
#include "compiled.h"

namespace opsight::testing {
namespace {

void expectIn(const std::string &ir, std::initializer_list<const char *> parts) {
  for (const char *part : parts)
    EXPECT_NE(ir.find(part), std::string::npos) << part << "\n" << ir;
}

TEST(Dialect, barriers_and_indices) {
  expectIn(irOf(compiledOk(R"(
__global__ void k(int *p) {
  p[0] = threadIdx.x + blockIdx.y + blockDim.z + gridDim.x + warpSize;
  __syncthreads();
  p[1] = __syncthreads_count(p[0]) + __syncthreads_and(p[1]) + __syncthreads_or(p[2]);
  __syncwarp();
  __threadfence();
})")),
           {"@llvm.nvvm.read.ptx.sreg.tid.x()", "@llvm.nvvm.read.ptx.sreg.ctaid.y()", "@llvm.nvvm.read.ptx.sreg.ntid.z()",
            "@llvm.nvvm.read.ptx.sreg.nctaid.x()", "@llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)",
            "@llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0", "@llvm.nvvm.barrier.cta.red.and.aligned.all(i32 0",
            "@llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0", "@llvm.nvvm.bar.warp.sync(i32 -1)", "fence seq_cst"});
}

TEST(Dialect, shuffles_are_words_and_carry_their_clamp) {
  std::string ir = irOf(compiledOk(R"(
__global__ void k(float *f, double *d, int *i) {
  f[0] = __shfl_xor_sync(0xffffffff, f[0], 1);
  d[0] = __shfl_down_sync(0xffffffff, d[0], 16);
  i[0] = __shfl_up_sync(0xffffffff, i[0], 1, 16) + __shfl_sync(0xffff, i[1], 0, 8);
})"));
  expectIn(ir, {"@llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32", "i32 1, i32 31)", "@llvm.nvvm.shfl.sync.up.i32(i32 -1",
                "i32 1, i32 4096)", "@llvm.nvvm.shfl.sync.idx.i32(i32 65535", "i32 0, i32 6175)"});
  EXPECT_EQ(occurrences(ir, "call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1"), 2u) << "a double is two words";
  EXPECT_EQ(ir.find("shfl.sync.bfly.f32"), std::string::npos);
}

TEST(Dialect, votes_matches_and_reductions) {
  expectIn(irOf(compiledOk(R"(
__global__ void k(unsigned *p, int *s) {
  int all;
  p[0] = __ballot_sync(~0u, p[0]) + __any_sync(~0u, p[1]) + __all_sync(~0u, p[2]) + __activemask();
  p[1] = __match_any_sync(~0u, p[3]) + __match_all_sync(~0u, p[4], &all) + all;
  p[2] = __reduce_add_sync(~0u, p[5]) + __reduce_max_sync(~0u, p[6]) + __reduce_xor_sync(~0u, p[7]);
  s[0] = __reduce_min_sync(~0u, s[1]);
})")),
           {"@llvm.nvvm.vote.ballot.sync(", "@llvm.nvvm.vote.any.sync(", "@llvm.nvvm.vote.all.sync(", "@llvm.nvvm.activemask()",
            "@llvm.nvvm.match.any.sync.i32(", "@llvm.nvvm.match.all.sync.i32p(", "@llvm.nvvm.redux.sync.add(",
            "@llvm.nvvm.redux.sync.umax(", "@llvm.nvvm.redux.sync.xor(", "@llvm.nvvm.redux.sync.min("});
}

TEST(Dialect, atomics_are_llvms) {
  std::string ir = irOf(compiledOk(R"(
__global__ void k(int *i, unsigned *u, unsigned long long *l, float *f, double *d) {
  atomicAdd(i, 1); atomicSub(i, 2); atomicMin(i, 3); atomicMax(u, 4u); atomicAnd(u, 5u); atomicOr(u, 6u); atomicXor(u, 7u);
  atomicExch(f, 1.0f); atomicInc(u, 9u); atomicDec(u, 9u); atomicAdd(l, 1ull); atomicMax(l, 2ull); atomicAdd(f, 1.0f);
  atomicAdd(d, 1.0); i[1] = atomicCAS(i, 1, 2);
})"));
  expectIn(ir, {"atomicrmw add ptr addrspace(1)", "atomicrmw min ", "atomicrmw umax ", "atomicrmw and ", "atomicrmw or ",
                "atomicrmw xor ", "atomicrmw xchg ", "atomicrmw uinc_wrap ", "atomicrmw udec_wrap ", "atomicrmw fadd ",
                "cmpxchg ", "monotonic"});
}

TEST(Dialect, mathematics_with_an_intrinsic_is_that_intrinsic) {
  std::string ir = irOf(compiledOk(R"(
__global__ void k(float *f, double *d) {
  f[0] = expf(f[0]) + __expf(f[1]) + exp2f(f[2]) + logf(f[3]) + sqrtf(f[4]) + fmaf(f[5], f[6], f[7]) + fabsf(f[8]) + exp(f[9]);
  f[1] = sinf(f[0]) + powf(f[1], f[2]) + floorf(f[3]) + fmaxf(f[4], f[5]) + tanhf(f[6]) + rsqrtf(f[7]) + __fdividef(f[8], f[9]);
  d[0] = exp(d[0]) + sqrt(d[1]) + fma(d[2], d[3], d[4]) + cos(d[5]) + rint(d[6]);
  f[2] = erff(f[0]) + cbrtf(f[1]);
})"));
  expectIn(ir, {"@llvm.exp.f32", "@llvm.exp2.f32", "@llvm.log.f32", "@llvm.sqrt.f32", "@llvm.fma.f32", "@llvm.fabs.f32",
                "@llvm.sin.f32", "@llvm.pow.f32", "@llvm.floor.f32", "@llvm.maxnum.f32", "@llvm.tanh.f32", "@llvm.exp.f64",
                "@llvm.cos.f64", "@llvm.rint.f64", "@__nv_erff(float", "@__nv_cbrtf(float"});
  EXPECT_EQ(ir.find("@__nv_exp"), std::string::npos);
  EXPECT_EQ(ir.find("@__nv_rsqrt"), std::string::npos);
}

TEST(Dialect, products_may_fuse_unless_they_were_asked_not_to) {
  EXPECT_NE(irOf(compiledOk("__global__ void k(float *p) { p[0] = p[1] * p[2] + p[3]; }")).find("fmul contract"), std::string::npos);
  std::string apart = irOf(compiledOk("__global__ void k(float *p) { p[0] = __fadd_rn(__fmul_rn(p[1], p[2]), p[3]); }"));
  EXPECT_NE(apart.find("fmul float"), std::string::npos) << apart;
  EXPECT_NE(apart.find("fadd float"), std::string::npos) << apart;
}

TEST(Dialect, shared_constant_and_device_variables_lie_in_their_spaces) {
  std::string ir = irOf(compiledOk(R"(
__constant__ float weights[16];
__device__ int counter;
extern __shared__ float dynamic[];
__global__ void k(float *p) {
  __shared__ float fixed[32];
  fixed[threadIdx.x] = weights[threadIdx.x];
  dynamic[threadIdx.x] = p[0];
  __syncthreads();
  p[threadIdx.x] = fixed[31 - threadIdx.x] + dynamic[0];
  atomicAdd(&counter, 1);
})"));
  expectIn(ir, {"addrspace(4) externally_initialized constant [16 x float]", "addrspace(1) externally_initialized global i32",
                "@dynamic = external", "addrspace(3) global [0 x float]", "addrspace(3) global [32 x float] undef"});
}

TEST(Dialect, printf_and_assert_are_our_calls) {
  expectIn(irOf(compiledOk("__global__ void k(float *p, char c) { printf(\"%f %d\\n\", p[0], c); assert(p[0] > 0); }")),
           {"@__opsight_printf(ptr noundef nonnull @", ", double noundef %", "@__opsight_assert(ptr noundef nonnull @"});
}

TEST(Dialect, half_is_half_and_bfloat_never_occurs) {
  std::string ir = irOf(compiledOk(R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void k(half *h, __nv_bfloat16 *b) { h[0] = h[1] * h[2] + h[3]; b[0] = b[1] * b[2] + __float2bfloat16(1.5f); })"));
  expectIn(ir, {"fmul contract half", "load half, ptr addrspace(1)"});
  EXPECT_EQ(ir.find("bfloat "), std::string::npos);
}

TEST(Dialect, nothing_of_nvidias_hardware_is_left_in_the_attributes) {
  std::string ir = irOf(compiledOk("__device__ __noinline__ int f(int x) { return x * 3; }\n"
                                   "__global__ void k(int *p) { p[0] = f(p[1]); }"));
  EXPECT_EQ(ir.find("sm_80"), std::string::npos);
  EXPECT_EQ(ir.find("define internal"), std::string::npos) << "__noinline__ is only a hint";
}

TEST(Dialect, a_tile_of_sixteen_shuffles_within_sixteen) {
  expectIn(irOf(compiledOk(R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int *p) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  p[threadIdx.x] = cg::reduce(tile, p[threadIdx.x], cg::plus<int>());
})")),
           {"@llvm.nvvm.shfl.sync.bfly.i32(", "i32 8, i32 4127)", "i32 1, i32 4127)"});
}
} // namespace
} // namespace opsight::testing
