// Native code of kernels with one thread a block, mostly: what the passes of src/lower/native promise.
#include "card/message.h"
#include "native_run.h"
#include <cmath>
#include <gmock/gmock.h>
#include <numeric>

namespace opsight::lower {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = card::Parameter::Kind;

Target forProcessor(const char *name) {
  Target target;
  target.processor = name;
  return target;
}

TEST(Native, ABlockOfTwoThreadsIsOneVectorOfTwo) {
  Target two;
  two.block = {2, 1, 1};
  auto artifact = compileText("__global__ void k(int *x) { x[threadIdx.x] += threadIdx.x + 10 * blockDim.x; }", two);
  ASSERT_TRUE(artifact) << describe(artifact.error());
  EXPECT_EQ(artifact->manifest.requiredBlock, two.block);
  EXPECT_THAT(artifact->manifest.notes.back(), HasSubstr("2 threads are one vector"));
  std::vector<int> x = {100, 200, 300};
  void *pointer = x.data();
  Loaded(*artifact).run({}, {&pointer});
  EXPECT_THAT(x, ElementsAre(120, 221, 300));
}

TEST(Native, ARangeRunsItsBlocksAndNoOthers) {
  auto artifact = compileText(R"(
    __global__ void k(unsigned *x) {
      unsigned i = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
      x[i] += 1 + 1000 * blockIdx.x + 10000 * blockIdx.y + 100000 * blockIdx.z + threadIdx.x + blockDim.y - 1;
    })");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  std::vector<unsigned> x(2 * 3 * 2);
  void *pointer = x.data();
  Loaded(*artifact).runRange({2, 3, 2}, 3, 8, {&pointer});
  EXPECT_THAT(x, ElementsAre(0, 0, 0, 11001, 20001, 21001, 100001, 101001, 0, 0, 0, 0));
}

TEST(Native, BothLevelsOfOptimisationAgree) {
  for (int level : {0, 3}) {
    auto artifact = compileText(R"(
      __device__ int twice(int v) { return 2 * v; }
      __global__ void k(int *x, int n) { for (int i = 0; i < n; ++i) x[i] = twice(x[i]) + i; })",
                                {}, level);
    ASSERT_TRUE(artifact) << describe(artifact.error());
    std::vector<int> x = {1, 2, 3};
    int n = 3;
    void *pointer = x.data();
    Loaded(*artifact).run({}, {&pointer, &n});
    EXPECT_THAT(x, ElementsAre(2, 5, 8)) << "level " << level;
  }
}

TEST(Native, BarriersAndWarpOperationsOfALoneThreadAnswerForItself) {
  auto artifact = compileText(R"(
    __global__ void k(int *x) {
      int v = x[0];
      __syncthreads();
      x[1] = __syncthreads_count(v == 7);
      x[2] = __syncthreads_or(v == 8);
      x[3] = __ballot_sync(1, v == 7);
      x[4] = __any_sync(1, v == 8);
      x[5] = __all_sync(1, v == 7);
      x[6] = __shfl_xor_sync(1, v, 0);
      x[7] = __activemask();
      x[8] = __reduce_add_sync(1, v);
      __syncwarp();
    })");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  std::vector<int> x(9, 7);
  void *pointer = x.data();
  Loaded(*artifact).run({}, {&pointer});
  EXPECT_THAT(x, ElementsAre(7, 1, 0, 1, 0, 1, 7, 1, 7));
}

TEST(Native, StaticAndDynamicSharedMemoryBelongToTheBlock) {
  auto artifact = compileText(R"(
    extern __shared__ int dynamic[];
    __global__ void k(int *x) {
      __shared__ int fixed[100];
      for (int i = 0; i < 100; ++i) fixed[i] = dynamic[i] = i;
      int sum = 0;
      for (int i = 0; i < 100; ++i) sum += fixed[(i * 7 + x[0]) % 100] + dynamic[(i * 3 + x[0]) % 100];
      x[1] = sum;
    })");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  EXPECT_EQ(artifact->manifest.staticSharedBytes, 400u);
  EXPECT_EQ(artifact->manifest.parameters.back().kind, Kind::DynamicShared);
  alignas(64) int shared[100];
  std::vector<int> x = {5, 0};
  void *pointer = x.data();
  Loaded(*artifact).run({}, {&pointer, nullptr}, shared, sizeof shared);
  EXPECT_EQ(x[1], 2 * 4950);
  EXPECT_EQ(shared[99], 99);
}

TEST(Native, ConstantsComeAsSymbolsAndStructsByValue) {
  auto artifact = compileText(R"(
    struct pair { int a; double b; bool c; };
    __constant__ int factor[2] = {10, 20};
    __global__ void k(double *x, pair p, bool flag) { x[0] = p.a * factor[1] + p.b + (p.c ? 1 : 0) + (flag ? 100 : 0); })");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  ASSERT_EQ(artifact->manifest.parameters.size(), 4u);
  const card::Parameter &symbol = artifact->manifest.parameters[3];
  EXPECT_EQ(symbol.kind, Kind::Symbol);
  ASSERT_EQ(symbol.initial.size(), 8u);
  struct {
    int a = 3;
    double b = 0.5;
    bool c = true;
  } p;
  bool flag = true;
  double x = 0;
  void *pointer = &x;
  const void *table = symbol.initial.data();
  Loaded(*artifact).run({}, {&pointer, &p, &flag, &table});
  EXPECT_EQ(x, 161.5);
}

TEST(Native, MathematicsIsTheCLibrarys) {
  auto artifact = compileText(R"(
    __global__ void k(float *x, double *y) {
      x[0] = expf(x[0]); x[1] = erff(x[1]); x[2] = sinpif(x[2]); x[3] = rsqrtf(x[3]); x[4] = fmodf(x[4], 3.0f);
      y[0] = log1p(y[0]); y[1] = pow(y[1], 1.5); y[2] = tgamma(y[2]);
    })");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  float x[] = {1.5f, 0.3f, 0.25f, 4.0f, -7.5f};
  double y[] = {1e-10, 2.5, 4.5};
  void *px = x, *py = y;
  Loaded(*artifact).run({}, {&px, &py});
  EXPECT_FLOAT_EQ(x[0], std::exp(1.5f));
  EXPECT_FLOAT_EQ(x[1], std::erf(0.3f));
  EXPECT_FLOAT_EQ(x[2], std::sqrt(0.5f));
  EXPECT_EQ(x[3], 0.5f);
  EXPECT_EQ(x[4], -1.5f);
  EXPECT_DOUBLE_EQ(y[0], std::log1p(1e-10));
  EXPECT_DOUBLE_EQ(y[1], std::pow(2.5, 1.5));
  EXPECT_DOUBLE_EQ(y[2], std::tgamma(4.5));
}

TEST(Native, AFunctionNobodyHasIsRefusedByNameAndLine) {
  auto artifact = compileText("__global__ void k(float *x) {\n  x[0] = erfcinvf(x[0]);\n}");
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(artifact.error().what, HasSubstr("erfcinvf"));
  EXPECT_EQ(artifact.error().where.line, 2u);
}

TEST(Native, AShiftByTheWidthGivesWhatCudaGives) {
  auto artifact = compileText("__global__ void k(unsigned *x) { x[0] = x[1] << x[2]; x[3] = int(x[1]) >> x[2]; }");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  unsigned x[] = {5, 0x80000001u, 33, 5};
  void *pointer = x;
  Loaded(*artifact).run({}, {&pointer});
  EXPECT_EQ(x[0], 0u);
  EXPECT_EQ(x[3], 0xFFFFFFFFu);
}

TEST(Native, AFloatThatDoesNotFitAnIntegerSaturates) {
  auto artifact = compileText("__global__ void k(const float *x, int *i) { i[0] = int(x[0]); i[1] = int(x[1]); i[2] = int(x[2]); }");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  float x[] = {1e10f, -1e10f, std::numeric_limits<float>::quiet_NaN()};
  int i[] = {7, 7, 7};
  void *values = x, *integers = i;
  Loaded(*artifact).run({}, {&values, &integers});
  EXPECT_EQ(i[0], std::numeric_limits<int>::max());
  EXPECT_EQ(i[1], std::numeric_limits<int>::min());
  EXPECT_EQ(i[2], 0);
}

TEST(Native, AFailedAssertIsRecordedAndEndsItsBlockOnly) {
  auto artifact = compileText(R"(
    __global__ void k(int *x) {
      printf("block %d of %f\n", blockIdx.x, 2.5);
      assert(blockIdx.x != 1);
      x[blockIdx.x] = 1;
    })");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  ASSERT_EQ(artifact->manifest.parameters.back().kind, Kind::Message);
  std::vector<uint32_t> message(1024);
  message[1] = 1000;
  std::vector<int> x(3);
  void *px = x.data(), *pm = message.data();
  Loaded(*artifact).run({3, 1, 1}, {&px, &pm});
  EXPECT_THAT(x, ElementsAre(1, 0, 1));
  EXPECT_EQ(message[2], 1u) << "asserted";
  EXPECT_EQ(message[0], 3 * 6 + 14u) << "words used";
  double printed;
  std::memcpy(&printed, &message[8], sizeof printed);
  EXPECT_EQ(printed, 2.5);
  EXPECT_THAT(artifact->manifest.formats, ::testing::Contains(HasSubstr("Assertion `blockIdx.x != 1` failed")));
}

TEST(Native, AMessageBufferThatIsFullIsNotOverrun) {
  auto artifact = compileText(R"(__global__ void k(int *x) { printf("%d", x[0]); })");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  std::vector<uint32_t> message(4 + 10, 77);
  message[0] = message[2] = 0;
  message[1] = 6; // room for one record of four words
  int x = 1;
  void *px = &x, *pm = message.data();
  Loaded(*artifact).run({3, 1, 1}, {&px, &pm});
  EXPECT_EQ(message[0], 12u);
  EXPECT_EQ(message[4 + 2], 1u);
  EXPECT_EQ(message[4 + 4], 77u);
}

TEST(Native, TheProcessorNamedIsTheOneCompiledFor) {
  const char *text = R"(
    typedef float wide __attribute__((ext_vector_type(16)));
    __global__ void k(wide *x) { x[0] = x[0] * x[1] + x[2]; })";
  auto narrow = compileText(text, forProcessor("x86-64-v3"));
  ASSERT_TRUE(narrow) << describe(narrow.error());
  EXPECT_THAT(narrow->readable, HasSubstr("vfmadd"));
  EXPECT_THAT(narrow->readable, ::testing::Not(HasSubstr("zmm")));
  auto unknown = compileText(text, forProcessor("x86-64-v9"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::User);
}

TEST(Native, TheHeaderIsCAndItsFunctionRunsTheKernel) {
  auto artifact = compileText(R"(
    template <int n> __global__ void scale(float *__restrict__ x, float factor, bool twice) {
      extern __shared__ float copy[];
      for (int i = 0; i < n; ++i) copy[i] = x[blockIdx.x * n + i];
      for (int i = 0; i < n; ++i) x[blockIdx.x * n + i] = copy[i] * factor * (twice ? 2 : 1);
    }
    template __global__ void scale<4>(float *, float, bool);)");
  ASSERT_TRUE(artifact) << describe(artifact.error());
  std::string library = "lib" + artifact->manifest.entry + ".so";
  ASSERT_TRUE(writeFile(scratch() / library, artifact->code));
  ASSERT_TRUE(writeFile(scratch() / "kernel.h", cHeader(*artifact)));
  std::string program = "#include \"kernel.h\"\nint main(void) {\n"
                        "  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, shared[4] __attribute__((aligned(64)));\n"
                        "  const uint32_t grid[3] = {2, 1, 1};\n  " +
                        artifact->manifest.entry +
                        "_run(grid, 0, 2, x, 1.5f, true, sizeof shared, shared);\n"
                        "  return x[0] == 3 && x[7] == 24 ? 0 : 1;\n}\n";
  ASSERT_TRUE(writeFile(scratch() / "main.c", program));
  std::string folder = scratch().string();
  std::string build = "clang-22 -std=c11 -Wall -Werror " + folder + "/main.c " + folder + "/" + library + " -Wl,-rpath," +
                      folder + " -o " + folder + "/main";
  ASSERT_EQ(std::system(build.c_str()), 0);
  EXPECT_EQ(std::system((folder + "/main").c_str()), 0);
}

TEST(Native, TheHeaderOfAKernelThatWaitsForTheGridRunsAllOfIt) {
  Target target;
  target.block = {48, 1, 1};
  auto artifact = compileText(R"(
    #include <cooperative_groups.h>
    __global__ void turn(int *x, int n) {
      extern __shared__ int kept[];
      auto grid = cooperative_groups::this_grid();
      int i = grid.thread_rank();
      kept[threadIdx.x] = x[n - 1 - i];
      grid.sync();
      x[i] = kept[threadIdx.x];
    })", target);
  ASSERT_TRUE(artifact) << describe(artifact.error());
  EXPECT_GT(artifact->manifest.residentBytes, 0u);
  ASSERT_TRUE(writeFile(scratch() / "libopsight_turn.so", artifact->code));
  ASSERT_TRUE(writeFile(scratch() / "turn.h", cHeader(*artifact)));
  std::string program = R"(#include "turn.h"
    #include <stdlib.h>
    int main(void) {
      int x[240];
      for (int i = 0; i < 240; ++i) x[i] = i;
      const uint32_t grid[3] = {5, 1, 1};
      char message[4096] = {0};
      void *memory = aligned_alloc(128, 5 * opsight_turn_resident(48 * sizeof(int)));
      opsight_turn_run(grid, x, 240, message, 48 * sizeof(int), memory);
      free(memory);
      for (int i = 0; i < 240; ++i) if (x[i] != 239 - i) return 1;
      return 0;
    })";
  ASSERT_TRUE(writeFile(scratch() / "turn.c", program));
  std::string folder = scratch().string();
  std::string build = "clang-22 -std=c11 -Wall -Werror " + folder + "/turn.c " + folder + "/libopsight_turn.so -Wl,-rpath," +
                      folder + " -o " + folder + "/turn";
  ASSERT_EQ(std::system(build.c_str()), 0);
  EXPECT_EQ(std::system((folder + "/turn").c_str()), 0);
}

} // namespace
} // namespace opsight::lower
