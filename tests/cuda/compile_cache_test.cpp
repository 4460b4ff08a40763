// A module comes from the cache exactly when compiling would give the same one.
#include "base/cache.h"
#include "base/file.h"
#include "cuda/compile.h"
#include "cuda/compile_cache.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

namespace opsight::cuda {
namespace {

class CompileCache : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("OPSIGHT_ROOT", OPSIGHT_SOURCE_DIR, 1);
    std::string pattern = (std::filesystem::temp_directory_path() / "opsight-compile-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    ::setenv("OPSIGHT_CACHE", (folder / "cache").c_str(), 1);
    request.file = (folder / "k.cu").string();
    write("k.cu", "#include \"part.h\"\n__global__ void k(float *x) { x[threadIdx.x] = VALUE; }\n");
    write("part.h", "#define VALUE 1.0f\n");
  }
  void TearDown() override {
    ::unsetenv("OPSIGHT_CACHE");
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  void write(const char *name, const std::string &text) { ASSERT_TRUE(writeFile(folder / name, text)); }
  std::string compiled() {
    auto module = compile(request);
    EXPECT_TRUE(module) << describe(module.error());
    return module ? module->fingerprint : "";
  }
  std::filesystem::path folder;
  CompileRequest request;
};

TEST_F(CompileCache, TheSameRequestIsKnown) {
  EXPECT_FALSE(keptModule(moduleKey(request)));
  std::string first = compiled();
  EXPECT_TRUE(keptModule(moduleKey(request)));
  EXPECT_EQ(compiled(), first);
}

TEST_F(CompileCache, AChangedSourceIsNot) {
  compiled();
  write("k.cu", "#include \"part.h\"\n__global__ void k(float *x) { x[threadIdx.x] = VALUE + 1; }\n");
  EXPECT_FALSE(keptModule(moduleKey(request)));
}

TEST_F(CompileCache, AChangedHeaderIsNotUntilItIsAsItWas) {
  std::string first = compiled();
  write("part.h", "#define VALUE 2.0f\n");
  EXPECT_FALSE(keptModule(moduleKey(request)));
  EXPECT_NE(compiled(), first);
  write("part.h", "#define VALUE 1.0f\n");
  EXPECT_EQ(compiled(), first);
}

TEST_F(CompileCache, OtherOptionsAreOtherRequests) {
  compiled();
  CompileRequest other = request;
  other.defines["MORE"] = "1";
  EXPECT_FALSE(keptModule(moduleKey(other)));
  other = request;
  other.optimization = 0;
  EXPECT_FALSE(keptModule(moduleKey(other)));
  other = request;
  other.fastMath = true;
  EXPECT_FALSE(keptModule(moduleKey(other)));
}

TEST_F(CompileCache, WhatDoesNotCompileIsNotKept) {
  write("part.h", "#define VALUE unknown\n");
  EXPECT_FALSE(compile(request));
  EXPECT_FALSE(keptModule(moduleKey(request)));
}

} // namespace
} // namespace opsight::cuda
