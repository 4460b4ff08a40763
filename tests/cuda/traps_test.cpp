// Ten places where Clang and CUDA programs are known to fall out with each other; each has happened.
#include "compiled.h"
#include <cstdlib>

namespace opsight::testing {
namespace {

TEST(Trap, an_sdk_in_the_environment_or_beside_the_system_headers_is_never_taken) {
  std::string poison = writeSource("#error an SDK was taken\n", "cuda_runtime.h");
  std::string folder = std::filesystem::path(poison).parent_path();
  for (const char *variable : {"CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH", "CUDA_PATH", "CUDA_HOME"})
    ::setenv(variable, folder.c_str(), 1);
  auto module = compiled("#include <cuda_runtime.h>\n#include <cuda.h>\n#include <device_launch_parameters.h>\n"
                         "#include <math_constants.h>\n__global__ void k(float *p) { p[0] = CUDART_PI_F; }");
  for (const char *variable : {"CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH", "CUDA_PATH", "CUDA_HOME"})
    ::unsetenv(variable);
  EXPECT_TRUE(module.has_value()) << describe(module.error());
}

TEST(Trap, cuda_arch_is_a_real_architecture) {
  auto values = folded("int", 4, {"__CUDA_ARCH__", "(int)sizeof(void *)", "__CUDACC_VER_MAJOR__ >= 11"});
  EXPECT_EQ(values[0], 800u);
  EXPECT_EQ(values[1], 8u);
  EXPECT_EQ(values[2], 1u);
}

TEST(Trap, launches_find_their_configuration_functions) {
  compiledOk("__global__ void k(int *p) { p[0] = 1; }\n"
             "int main() { k<<<1, 2>>>(0); k<<<1, 2, 48>>>(0); cudaStream_t s = 0; k<<<dim3(1, 2), 32, 0, s>>>(0);\n"
             "  void *a[1]; cudaLaunchKernel((const void *)k, dim3(1), dim3(1), a, 0, s); void (*f)(int *) = k; return f == 0; }");
}

TEST(Trap, what_host_and_device_lay_out_differently_is_diagnosed) {
  expectError(compiled("struct s { int a; long double x[2]; };\n__global__ void k(int *p, s v) { p[0] = v.a; }"),
              ErrorKind::Unsupported, "long double", 2);
  expectError(compiled("__global__ void k(int *p, int n) { int a[n]; p[0] = a[1]; }"), ErrorKind::User, "variable-length");
  compiledOk("__global__ void k(int *p) { p[0] = 1; }\nint host(int n) { int a[n]; long double x = n; a[0] = (int)x; return a[0]; }");
  compiledOk("__global__ void k(unsigned long long *p) { p[0] = (unsigned long long)(((__int128)p[1] * p[2]) >> 64); }");
}

TEST(Trap, mixed_min_max_and_classification_and_unincluded_headers_work) {
  compiledOk("__global__ void k(float *p, double *d, bool *o) {\n"
             "  o[0] = isinf(p[0]); o[1] = isnan(d[0]); o[2] = signbit(p[1]); o[3] = isfinite(p[1]);\n"
             "  o[4] = std::isnan(p[1]); o[5] = std::isinf(d[0]); o[6] = isnan(3);\n"
             "  assert(p[0] > 0); p[2] = sqrt(p[2]) + fmax(p[0], p[1]) + round(p[1]) + std::max(p[0], p[1]); }\n"
             "int main() { time_t t = time(nullptr); size_t n = 3; double x = sqrt(2.0);\n"
             "  return (int)(min(3, 4u) + max(1.0, 2.f) + min(n, (size_t)4) + t + x + abs(-3)); }\n");
}

TEST(Trap, device_new_and_malloc_never_reach_the_hosts) {
  expectError(compiled("__global__ void k(int **p) {\n  p[0] = new int[4];\n}"), ErrorKind::Unsupported, "new", 2);
  expectError(compiled("#include <new>\n__global__ void k(int **p) {\n  p[0] = new int(4);\n}"), ErrorKind::Unsupported, "", 3);
  expectError(compiled("__global__ void k(int **p) {\n\n  p[0] = (int *)malloc(8);\n}"), ErrorKind::Unsupported, "malloc", 3);
}

TEST(Trap, managed_variables_and_textures_are_refused_by_name) {
  expectError(compiled("__managed__ int total;\n__global__ void k(int *p) { p[0] = total; }"), ErrorKind::Unsupported, "total");
  compiledOk("__managed__ int unused;\n__global__ void k(int *p) { p[0] = 1; }");
  expectError(compiled("texture<float, 2> t;\n__global__ void k(float *p) { p[0] = tex2D(t, 1, 2); }"),
              ErrorKind::Unsupported, "texture", 1);
}

TEST(Trap, register_and_narrowing_pass_and_a_missing_template_keyword_is_explained) {
  compiledOk("__global__ void k(int *p) { register int x = 3; int a[] = {p[0], (int)2.5, 'c'}; unsigned char c[] = {300 * 1};\n"
             "  p[0] = x + a[1] + c[0]; }");
  expectError(compiled("struct a { template <int N> __device__ int f() { return N; } };\n"
                       "template <class T> __device__ int g(T t) { return t.f<3>(); }\n"
                       "__global__ void k(int *p) { p[0] = g(a()); }"),
              ErrorKind::User, "'template' keyword");
}

TEST(Trap, host_functions_throw_and_launches_in_device_code_get_clear_words) {
  expectError(compiled("#include <cstdlib>\n__host__ __device__ int f(int x) { if (x < 0) exit(1); return x; }\n"
                       "__global__ void k(int *p) { p[0] = f(p[1]); }"),
              ErrorKind::User, "reference to __host__ function 'exit'");
  expectError(compiled("__global__ void k(int *p) { if (p[0]) throw 3; }"), ErrorKind::User, "cannot use 'throw'");
  expectError(compiled("__global__ void j(int *p) {}\n__global__ void k(int *p) { j<<<1, 1>>>(p); }", "k"), ErrorKind::User,
              "kernel launch from __device__ or __global__ function");
  cuda::CompileRequest swap = request("#include <utility>\n__global__ void k(int *p) { std::swap(p[0], p[1]); }");
  swap.extraFlags = {"-std=c++20"};
  auto module = cuda::compile(swap);
  EXPECT_TRUE(module.has_value()) << describe(module.error());
}

TEST(Trap, host_code_that_calls_a_missing_library_does_not_block_a_kernel_that_needs_none) {
  std::string text = "#include <cublas_v2.h>\n#include <thrust/device_vector.h>\n#include <omp.h>\n"
                     "cublasHandle_t handle;\n"
                     "void check(cublasStatus_t status) { if (status != CUBLAS_STATUS_SUCCESS) return; }\n"
                     "__host__ __device__ int half_of(int n) { return n / 2; }\n"
                     "__global__ void k(int *p) { p[0] = half_of(8); }\n"
                     "int main() { thrust::device_vector<int> v; check(cublasCreate(&handle)); return omp_get_num_threads(); }\n";
  EXPECT_EQ(storedConstants(compiledOk(text)).at(0), 4u);
  auto names = cuda::listKernels(request(text));
  ASSERT_TRUE(names.has_value()) << describe(names.error());
  EXPECT_EQ(names->size(), 1u);
}
} // namespace
} // namespace opsight::testing
