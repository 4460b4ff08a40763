// What CUDA has and Opsight has not ends with code 3, by name and line, and is never compiled to something else.
#include "compiled.h"
#include "cuda/missing.h"

namespace opsight::testing {
namespace {

TEST(Missing, headers_of_device_libraries_that_the_kernel_uses) {
  expectError(compiled("#include <cub/cub.cuh>\n__global__ void k(int *p) {\n"
                       "  typedef cub::BlockReduce<int, 128> Reduce;\n  p[0] = Reduce().Sum(p[0]);\n}"),
              ErrorKind::Unsupported, "cub");
  expectError(compiled("#include <curand_kernel.h>\n__global__ void k(float *p) {\n  curandState s;\n  p[0] = curand_uniform(&s);\n}"),
              ErrorKind::Unsupported, "curand");
}

TEST(Missing, names_of_cuda_without_their_header) {
  expectError(compiled("__global__ void k(float *p, cudaTextureObject_t t) {\n  p[0] = tex2D<float>(t, 1, 2);\n}"),
              ErrorKind::Unsupported, "tex2D", 2);
  expectError(compiled("#include <cooperative_groups.h>\n__global__ void k(int *p) {\n"
                       "  cooperative_groups::this_multi_grid().sync();\n  p[0] = 1;\n}"),
              ErrorKind::Unsupported, "this_multi_grid", 3);
  expectError(compiled("__global__ void k(int *p) {\n  p[0] = __shfl_down(p[0], 1);\n}"), ErrorKind::Unsupported,
              "__shfl_down_sync", 2);
}

TEST(Missing, a_library_of_host_code_beside_a_kernel_that_does_not_compile_either) {
  Result<cuda::Module> module = compiled("#include <cublas_v2.h>\nvoid host() { cublasCreate(nullptr); }\n"
                                         "__global__ void k(int *p) {\n  *p = not_declared;\n}");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(module.error().what.find("cublasCreate"), std::string::npos) << module.error().what;
  EXPECT_NE(module.error().next.find("4:8: error: use of undeclared identifier 'not_declared'"), std::string::npos)
      << module.error().next;
}

TEST(Missing, fragments_of_matrices_that_no_product_here_takes) {
  expectError(compiled("#include <mma.h>\nusing namespace nvcuda;\n__global__ void k(double *p) {\n"
                       "  wmma::fragment<wmma::accumulator, 8, 8, 4, double> c;\n  wmma::fill_fragment(c, 1.0);\n"
                       "  wmma::store_matrix_sync(p, c, 8, wmma::mem_row_major);\n}"),
              ErrorKind::Unsupported, "wmma fragment of this shape and type", 4);
}

TEST(Missing, inline_ptx_is_refused_with_the_instruction_text) {
  expectError(compiled("__global__ void k(int *p) {\n  int r;\n"
                       "  asm volatile(\"vote.ballot.b32 %0, 1;\" : \"=r\"(r));\n  p[0] = r;\n}"),
              ErrorKind::Unsupported, "inline PTX 'vote.ballot.b32' has no translation", 3);
  expectError(compiled("__device__ void f() {\n  asm volatile(\"fence.proxy.async;\");\n}\n__global__ void k(int *p) { p[0] = 1; f(); }"),
              ErrorKind::Unsupported, "'fence.proxy.async'", 2);
  expectError(compiled("__global__ void k(int *p) {\n  asm volatile(\"mov.u32 %0 7;\" : \"=r\"(p[0]));\n}"),
              ErrorKind::Unsupported, "inline PTX that cannot be read: '7;' where ';' should be", 2);
}

TEST(Missing, inline_ptx_that_nobody_reaches_is_no_fault) {
  std::string ir = irOf(compiledOk("template <bool modern> __device__ int f(int x) {\n"
                                   "  if (modern) asm volatile(\"wgmma.fence.sync.aligned;\");\n  return x; }\n"
                                   "__global__ void k(int *p) { p[0] = f<false>(p[1]); }"));
  EXPECT_EQ(ir.find("wgmma"), std::string::npos) << ir;
}

TEST(Missing, inline_ptx_that_means_what_llvm_has_is_translated) {
  std::string ir = irOf(compiledOk(R"(
__device__ float ex2(float x) { float r; asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
__device__ float rcp(float x) { float r; asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; }
__device__ int lane() { int r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ float ldnc(const float *p) { float r; asm("ld.global.nc.f32 %0, [%1];" : "=f"(r) : "l"(p)); return r; }
__global__ void k(float *p) { p[0] = ex2(p[1]) + rcp(p[2]) + lane() + ldnc(p + 7); asm volatile("bar.sync 0;"); }
)"));
  for (const char *part : {"@llvm.exp2.f32", "fdiv float 1.0", "@llvm.nvvm.read.ptx.sreg.laneid()",
                           "@llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"})
    EXPECT_NE(ir.find(part), std::string::npos) << part << "\n" << ir;
  EXPECT_EQ(ir.find(" asm "), std::string::npos) << ir;
}

TEST(Missing, a_device_function_of_another_file) {
  expectError(compiled("extern __device__ int other(int);\n__global__ void k(int *p) {\n  p[0] = other(3);\n}"),
              ErrorKind::Unsupported, "other(int)", 3);
}

TEST(Missing, printf_with_a_format_made_at_run_time) {
  expectError(compiled("__global__ void k(const char *f) {\n  printf(f, 3);\n}"), ErrorKind::Unsupported, "printf", 2);
}

TEST(Missing, a_users_own_misspelling_stays_a_user_error) {
  expectError(compiled("__global__ void k(float *p) { p[0] = expff(p[1]); }"), ErrorKind::User, "expff");
  expectError(compiled("#include \"my_header.h\"\n__global__ void k(float *p) { p[0] = 1; }"), ErrorKind::User,
              "'my_header.h' file not found");
}

TEST(Missing, a_users_own_header_may_carry_an_sdk_name) {
  writeSource("__device__ inline float helper(float x) { return x + 1; }\n", "helper_math.h");
  compiledOk("#include \"helper_math.h\"\n__global__ void k(float *p) { p[0] = helper(p[1]); }");
}

TEST(Missing, the_tables_know_qualified_names_and_leave_ordinary_ones) {
  EXPECT_TRUE(cuda::missingName("cub::BlockReduce"));
  EXPECT_TRUE(cuda::missingName("cublasSgemm"));
  EXPECT_TRUE(cuda::missingName("cudaMemcpyBatchAsync")) << "asked only of names that Clang does not know";
  EXPECT_FALSE(cuda::missingName("my::cubic"));
  EXPECT_FALSE(cuda::missingName("cubic"));
  EXPECT_TRUE(cuda::missingHeader("cub/block/block_reduce.cuh"));
  EXPECT_FALSE(cuda::missingHeader("cuda_runtime.h"));
  EXPECT_FALSE(cuda::missingHeader("vector"));
}
} // namespace
} // namespace opsight::testing
