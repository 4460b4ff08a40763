// CUDA in, one kernel's IR out: what is chosen, what is kept, and what the user is told.
#include "compiled.h"
#include <llvm/IR/Verifier.h>

namespace opsight::testing {
namespace {
using cuda::KernelParameter;

TEST(Compile, host_code_beside_the_kernel_is_left_alone) {
  cuda::Module module = compiledOk(R"(
#include <cstdio>
#include <iostream>
#include <vector>
__global__ void twice(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= 2.0f;
}
int main() {
  std::vector<float> v(100, 1.0f);
  float *d;
  cudaMalloc(&d, v.size() * sizeof(float));
  cudaMemcpy(d, v.data(), v.size() * sizeof(float), cudaMemcpyHostToDevice);
  twice<<<1, 128>>>(d, 100);
  twice<<<dim3(1), dim3(128), 0, nullptr>>>(d, 100);
  if (cudaGetLastError() != cudaSuccess) printf("no\n");
  std::cout << v[0] << std::endl;
}
)");
  ASSERT_TRUE(module.ir);
  EXPECT_FALSE(llvm::verifyModule(*module.ir, &llvm::errs()));
  size_t definitions = 0;
  for (const llvm::Function &function : *module.ir)
    definitions += !function.isDeclaration();
  EXPECT_EQ(definitions, 1u);
  EXPECT_EQ(module.kernel.name, "twice");
  EXPECT_EQ(module.ir->getTargetTriple().str(), "nvptx64-nvidia-cuda");
}

TEST(Compile, a_kernel_of_a_pytorch_extension_without_its_bindings) {
  cuda::Module module = compiledOk(R"(
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#define CHECK_INPUT(x) TORCH_CHECK(x.is_cuda(), #x " must be on the card")
__global__ void twice(float *p, int64_t n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= 2;
}
std::vector<torch::Tensor> forward(torch::Tensor x, at::IntArrayRef shape, c10::optional<at::Tensor> bias) {
  CHECK_INPUT(x);
  auto y = torch::zeros_like(x);
  twice<<<1, 128, 0, at::cuda::getCurrentCUDAStream()>>>(y.data_ptr<float>(), x.numel());
  return {y};
}
TORCH_LIBRARY(own, m) { m.def("forward", &forward); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", torch::wrap_pybind_function(forward)); }
)");
  ASSERT_TRUE(module.ir);
  EXPECT_EQ(module.kernel.name, "twice");
}

TEST(Compile, integers_of_known_width_need_no_header) { // cuda.h, cuda_fp16.h and cublas_v2.h bring <stdint.h>
  cuda::Module module = compiledOk(
      "__global__ void k(uint32_t *p, const int8_t *q) { p[0] = uint32_t(reinterpret_cast<uintptr_t>(p) & 3) + q[0]; }");
  ASSERT_TRUE(module.ir);
}

TEST(Compile, host_code_has_the_mathematics_that_nvcc_gives_it_unasked) {
  cuda::Module module = compiledOk(R"(
#include <vector>
template <class T> bool odd(T x) { return !isfinite(x) || isnan(x) || isinf(x) || signbit(x) || fabs(x) > exp2(x); }
int check(const float *x, const double *y) { return odd(x[0]) + odd(y[0]) + std::isnan(x[1]) + (abs(x[2]) < 1.0f); }
__global__ void k(float *p) { *p = isfinite(*p) && !isnan(p[1]) && !signbit(p[2]) ? fabs(*p) : abs(p[3]); }
)");
  ASSERT_TRUE(module.ir);
}

TEST(Compile, parameters_are_described_as_written) {
  cuda::Module module = compiledOk(R"(
#include <cuda_fp16.h>
struct pair { float a; int b[3]; };
__global__ void k(const float *__restrict__ q, half *o, const unsigned char *mask, pair s, int n, double d, half h) {
  o[0] = h; o[1] = q[n] + mask[n] + s.a + d;
})");
  const std::vector<KernelParameter> &p = module.kernel.parameters;
  ASSERT_EQ(p.size(), 7u);
  EXPECT_EQ(p[0].type, "const float *__restrict");
  EXPECT_EQ(p[0].element, "float");
  EXPECT_TRUE(p[0].isConst);
  EXPECT_EQ(p[0].kind, KernelParameter::Kind::Pointer);
  EXPECT_EQ(p[1].element, "half");
  EXPECT_FALSE(p[1].isConst);
  EXPECT_EQ(p[2].element, "unsigned char");
  EXPECT_EQ(p[3].kind, KernelParameter::Kind::Struct);
  EXPECT_EQ(p[3].bytes, 16u);
  EXPECT_EQ(p[4].kind, KernelParameter::Kind::Scalar);
  EXPECT_EQ(p[5].bytes, 8u);
  EXPECT_EQ(p[6].element, "half");
  EXPECT_EQ(p[6].kind, KernelParameter::Kind::Scalar);
}

TEST(Compile, pointer_parameters_are_accessed_in_global_memory_at_both_levels) {
  for (int level : {0, 3}) {
    std::string ir = irOf(compiledOk(R"(
__device__ float at(const float *p, int i) { return p[i]; }
__global__ void k(float *p, int i) {
  __shared__ float s[8];
  float local[4] = {p[0], p[1], p[2], p[3]};
  s[threadIdx.x] = p[i];
  __syncthreads();
  p[i] = at(s, i) + at(p, i) + at(local, i);
})", "", level));
    EXPECT_NE(ir.find("load float, ptr addrspace(1)"), std::string::npos) << level;
    EXPECT_NE(ir.find("load float, ptr addrspace(3)"), std::string::npos) << level;
    EXPECT_EQ(ir.find("@_Z2atPKfi"), std::string::npos) << "not inlined at level " << level;
  }
}

TEST(Compile, volatile_shared_memory_keeps_its_address_space) {
  std::string ir = irOf(compiledOk(R"(
__global__ void k(float *p) {
  __shared__ float s[64];
  volatile float *v = s;
  v[threadIdx.x] = p[threadIdx.x];
  v[threadIdx.x] += v[threadIdx.x + 32];
  p[threadIdx.x] = v[threadIdx.x];
})"));
  EXPECT_NE(ir.find("load volatile float, ptr addrspace(3)"), std::string::npos) << ir;
  EXPECT_NE(ir.find("store volatile float"), std::string::npos);
  EXPECT_EQ(ir.find("load volatile float, ptr %"), std::string::npos) << ir;
}

TEST(Compile, wide_vectors_of_the_source_are_kept_and_none_are_made) {
  std::string wide = irOf(compiledOk(R"(
typedef float lanes __attribute__((ext_vector_type(16)));
__global__ void k(lanes *p) { p[0] = __builtin_elementwise_exp2(p[1]) * p[2] + p[3]; })"));
  EXPECT_NE(wide.find("@llvm.exp2.v16f32"), std::string::npos);
  EXPECT_NE(wide.find("load <16 x float>, ptr addrspace(1)"), std::string::npos);
  std::string scalar = irOf(compiledOk(R"(
__global__ void k(float *p, const float *q, int n) { for (int i = 0; i < n; ++i) p[i] = q[i] * 2.0f; })"));
  EXPECT_EQ(scalar.find(" x float>"), std::string::npos) << "vectorised";
}

TEST(Compile, every_access_keeps_its_line_through_inlining_and_optimisation) {
  cuda::Module module = compiledOk("__device__ float twice(const float *p) {\n  return 2 * *p;\n}\n"
                                   "__global__ void k(float *p) {\n  p[1] = twice(p);\n}\n");
  ASSERT_EQ(module.kernel.facts.count(cuda::Fact::Kind::Load), 1u);
  for (const cuda::Fact &fact : module.kernel.facts.all)
    EXPECT_EQ(fact.where.line, fact.kind == cuda::Fact::Kind::Load ? 2u : 5u);
}

TEST(Compile, an_instance_of_a_template_is_made_on_request) {
  std::string text = R"(
namespace attention {
template <int M, int N> __global__ void flash(float *p) { p[0] = M * 100 + N; }
}
template <class T> __global__ void fill(T *p) { p[0] = T(1); }
)";
  EXPECT_EQ(storedConstants(compiledOk(text, "attention::flash<64, 32>")).at(0), 0x45c90000u) << "6432.0f";
  cuda::Module found = compiledOk(text, "flash<64, 32>"); // by its unqualified name as well
  EXPECT_EQ(found.kernel.name, "flash<64, 32>");
  EXPECT_EQ(storedConstants(found).at(0), 0x45c90000u);
  EXPECT_EQ(storedConstants(compiledOk(text, "fill<int>")).at(0), 1u);
}

TEST(Compile, an_instance_in_an_unnamed_namespace_is_found_and_its_errors_are_shown) {
  std::string text = R"(
namespace {
namespace inner {
template <class T> __global__ void fill(T *p) { static_assert(sizeof(T) < 8, "small ones only"); p[0] = T(1); }
}
template <int N> __global__ void write(float *p) { p[0] = N; }
}
)";
  EXPECT_EQ(storedConstants(compiledOk(text, "write<2>")).at(0), 0x40000000u);
  EXPECT_EQ(storedConstants(compiledOk(text, "fill<int>")).at(0), 1u);
  expectError(compiled(text, "fill<double>"), ErrorKind::User, "small ones only");
}

TEST(Compile, an_impossible_instance_is_a_user_error_that_shows_the_request) {
  std::string text = "template <int N> __global__ void fill(float *p) { static_assert(N > 0, \"N counts\"); p[0] = N; }\n";
  expectError(compiled(text, "fill<float>"), ErrorKind::User, "fill<float>");
  expectError(compiled(text, "fill<0>"), ErrorKind::User, "N counts");
  expectError(compiled(text, "fill<"), ErrorKind::User, "is no instance");
  expectError(compiled(text, "fill<3>; int x"), ErrorKind::User, "is no instance");
}

TEST(Compile, the_only_instance_that_the_file_uses_needs_no_arguments) {
  std::string text = "template <int N> __global__ void fill(float *p) { p[0] = N; }\n"
                     "void host(float *p) { fill<5><<<1, 1>>>(p); }\n";
  EXPECT_EQ(compiledOk(text, "fill").kernel.symbol, "_Z4fillILi5EEvPf");
  expectError(compiled(text + "void more(float *p) { fill<6><<<1, 1>>>(p); }\n", "fill"), ErrorKind::User, "fill<6>");
}

TEST(Compile, no_kernel_two_kernels_and_a_misspelt_one_are_told_with_the_names_there_are) {
  expectError(compiled("int main() {}"), ErrorKind::User, "has no kernel");
  std::string two = "__global__ void alpha(int *p) { p[0] = 1; }\n__global__ void beta(int *p) { p[0] = 2; }\n";
  expectError(compiled(two), ErrorKind::User, "alpha, beta");
  expectError(compiled(two, "bet"), ErrorKind::User, "did you mean 'beta'");
  EXPECT_EQ(storedConstants(compiledOk(two, "beta")).at(0), 2u);
  auto names = cuda::listKernels(request(two + "template <int N> __global__ void gamma(int *p) {}\n"));
  ASSERT_TRUE(names.has_value());
  EXPECT_EQ(*names, (std::vector<std::string>{"alpha", "beta", "gamma<int N>"}));
}

TEST(Compile, kernels_of_odd_linkage_are_found) {
  std::string text = "extern \"C\" __global__ void c(int *p) { p[0] = 1; }\n"
                     "static __global__ void s(int *p) { p[0] = 2; }\n"
                     "namespace { __global__ void anonymous(int *p) { p[0] = 3; } }\n"
                     "__global__ void later(int *p);\n__global__ void later(int *p) { p[0] = 4; }\n"
                     "template <int N> __global__ void special(int *p) { p[0] = 0; }\n"
                     "template <> __global__ void special<7>(int *p) { p[0] = 5; }\n";
  uint64_t expected = 1;
  for (const char *name : {"c", "s", "anonymous", "later", "special<7>"})
    EXPECT_EQ(storedConstants(compiledOk(text, name))[0], expected++) << name;
}

TEST(Compile, a_type_error_reaches_the_user_in_clangs_words) {
  auto module = compiled("__global__ void k(float *p) {\n  p[0] = \"text\";\n}\n");
  expectError(module, ErrorKind::User, "kernel.cu:2:10: error: ");
  EXPECT_NE(module.error().what.find("^"), std::string::npos) << module.error().what;
  expectError(compiled("this is not CUDA at all\n"), ErrorKind::User, "error: ");
  expectError(compiled("__global__ void k(int *p) { p[0] = nothing; }"), ErrorKind::User, "undeclared identifier 'nothing'");
}

TEST(Compile, a_missing_file_and_a_folder_are_user_errors) {
  cuda::CompileRequest missing;
  missing.file = "/no/such/kernel.cu";
  expectError(cuda::compile(missing), ErrorKind::User, "/no/such/kernel.cu");
  missing.file = "/tmp";
  expectError(cuda::compile(missing), ErrorKind::User, "folder");
}

TEST(Compile, defines_folders_and_flags_are_passed_and_others_refused) {
  writeSource("#define OFFSET 3\n", "offset.h");
  cuda::CompileRequest made = request("#include <offset.h>\n__global__ void k(int *p) { p[0] = OFFSET + HEAD + EXTRA; }");
  made.includeFolders = {std::filesystem::path(made.file).parent_path()};
  made.defines = {{"HEAD", "64"}};
  made.extraFlags = {"-DEXTRA=100", "-std=c++20"};
  auto module = cuda::compile(made);
  ASSERT_TRUE(module.has_value()) << describe(module.error());
  EXPECT_EQ(storedConstants(*module).at(0), 167u);
  made.extraFlags = {"-fplugin=evil.so"};
  expectError(cuda::compile(made), ErrorKind::User, "-fplugin=evil.so");
  made.extraFlags = {};
  made.optimization = 2;
  expectError(cuda::compile(made), ErrorKind::User, "neither 0 nor 3");
}

TEST(Compile, a_clone_lives_in_a_context_of_its_own) {
  cuda::Module module = compiledOk("__global__ void k(int *p) { p[0] = 9; }");
  cuda::Module copy = module.clone();
  EXPECT_NE(copy.context.get(), module.context.get());
  EXPECT_EQ(irOf(copy), irOf(module));
  module = {};
  EXPECT_EQ(storedConstants(copy).at(0), 9u);
}

TEST(Compile, recursion_is_kept_as_calls) {
  std::string ir = irOf(compiledOk("__device__ int f(int n) { return n > 3 ? f(n - 1) + 2 * f(n / 2) : n; }\n"
                                   "__global__ void k(int *p) { p[0] = f(p[1]); }\n"));
  EXPECT_NE(ir.find("define internal"), std::string::npos);
}
} // namespace
} // namespace opsight::testing
