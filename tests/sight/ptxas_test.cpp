#include "base/file.h"
#include "sight/ptxas.h"
#include <gmock/gmock.h>
#include <unistd.h>

namespace opsight::sight {
namespace {
using testing::HasSubstr;

const char *twoKernels = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z5flashILi64ELi64EEvPf' for 'sm_80'
ptxas info    : Function properties for _Z5flashILi64ELi64EEvPf
    104 bytes stack frame, 96 bytes spill stores, 88 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 104 bytes cumulative stack size, 360 bytes cmem[0]
ptxas info    : Compile time = 14.620 ms
ptxas info    : Compiling entry function '_Z5plainPfi' for 'sm_80'
ptxas info    : Function properties for _Z5plainPfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers, used 0 barriers, 364 bytes cmem[0]
)";

class Toolkit : public testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directories(folder);
    if (!findNvcc())
      GTEST_SKIP() << "no CUDA toolkit here";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("opsight-ptxas-" + std::to_string(::getpid()));

  Result<Registers> ask(const std::string &text, const std::string &kernel, const std::string &symbol,
                        std::map<std::string, std::string> defines = {}) {
    EXPECT_TRUE(writeFile(folder / "k.cu", text));
    return askPtxas({folder / "k.cu", kernel, symbol, std::move(defines), "sm_80"});
  }
};

TEST(PtxasWords, RegistersAndSpillsAreThoseOfTheKernelAsked) {
  Registers flash = readPtxas(twoKernels, "_Z5flashILi64ELi64EEvPf").value();
  EXPECT_EQ(flash.registers, 255u);
  EXPECT_EQ(flash.stackBytes, 104u);
  EXPECT_EQ(flash.spillStores, 96u);
  EXPECT_EQ(flash.spillLoads, 88u);
  EXPECT_EQ(readPtxas(twoKernels, "_Z5plainPfi")->registers, 30u);
}

TEST(PtxasWords, AnotherKernelsRegistersAreNeverTaken) {
  EXPECT_FALSE(readPtxas(twoKernels, "_Z5otherPfi"));
  EXPECT_FALSE(readPtxas("", "_Z5otherPfi"));
}

TEST_F(Toolkit, AKernelHasItsRegisters) {
  auto told = ask("__global__ void k(float *x) { x[threadIdx.x] *= N; }", "k", "_Z1kPf", {{"N", "3"}});
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_GT(told->registers, 0u);
  EXPECT_LT(told->registers, 64u);
  EXPECT_EQ(told->stackBytes, 0u);
}

TEST_F(Toolkit, AnInstanceOfATemplateIsMade) {
  auto told = ask("template <int N> __global__ void k(float *x) { x[threadIdx.x] *= N; }", "k<64>", "_Z1kILi64EEvPf");
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_GT(told->registers, 0u);
}

TEST_F(Toolkit, AnArrayIndexedAtRunTimeLiesInLocalMemory) {
  const std::string text =
      "__global__ void k(float *x, int n) { float tap[8]; for (int i = 0; i < 8; ++i) tap[i] = x[i];\n"
      "float s = 0; for (int i = 0; i < n; ++i) { tap[x[i] > 0 ? i & 7 : 3] += s; s += tap[i * n & 7]; } x[0] = s; }";
  auto indexed = ask(text, "k", "_Z1kPfi");
  ASSERT_TRUE(indexed) << indexed.error().what;
  EXPECT_EQ(indexed->stackBytes, 32u);
}

TEST_F(Toolkit, WhatNvccRefusesIsItsReason) {
  auto told = ask("__global__ void k(float *x) { x[0] = nowhere; }", "k", "_Z1kPf");
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().what, HasSubstr("nowhere"));
}

} // namespace
} // namespace opsight::sight
