// Plain functions for the host: what is told of them, and what is refused in whose words.
#include "cuda/host_function.h"
#include "base/file.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace opsight::cuda {
namespace {

using testing::HasSubstr;

class HostFunction : public testing::Test {
protected:
  std::filesystem::path file = std::filesystem::temp_directory_path() / ("opsight-host-" + std::to_string(::getpid()) + ".cpp");
  void TearDown() override { std::filesystem::remove(file); }
  Result<Module> compiled(const std::string &source, const std::string &function) {
    EXPECT_TRUE(writeFile(file, source));
    return compileHostFunction(file.string(), function);
  }
};

TEST_F(HostFunction, IsDescribedWithItsParametersAndExportsTheEntryAlone) {
  auto module = compiled("#include <vector>\nnamespace ours {\nstatic double sum(const double *x, int n) {\n"
                         "  std::vector<double> all(x, x + n);\n  double s = 0;\n  for (double v : all) s += v;\n  return s;\n}\n}\n",
                         "ours::sum");
  ASSERT_TRUE(module) << describe(module.error());
  ASSERT_EQ(module->kernel.parameters.size(), 2u);
  EXPECT_EQ(module->kernel.parameters[0].name, "x");
  EXPECT_EQ(module->kernel.parameters[0].element, "double");
  EXPECT_TRUE(module->kernel.parameters[0].isConst);
  EXPECT_EQ(module->kernel.parameters[1].kind, KernelParameter::Kind::Scalar);
  EXPECT_EQ(module->kernel.facts.where.line, 3u);
  const llvm::Function *entry = module->ir->getFunction(hostEntry);
  ASSERT_TRUE(entry);
  EXPECT_FALSE(entry->isDeclaration());
}

TEST_F(HostFunction, KeepsMultiplicationAndAdditionApart) {
  auto module = compiled("double f(double a, double b, double c) { return a * b + c; }", "f");
  ASSERT_TRUE(module);
  for (const llvm::Function &function : *module->ir)
    EXPECT_FALSE(function.getName().contains("fma") || function.getName().contains("fmuladd")) << function.getName().str();
}

TEST_F(HostFunction, ThatIsNotThereNamesTheNearest) {
  Error error = compiled("void scale_plain(float *) {}", "scale_plane").error();
  EXPECT_EQ(error.kind, ErrorKind::User);
  EXPECT_THAT(error.what, HasSubstr("did you mean 'scale_plain'"));
}

TEST_F(HostFunction, ThatDoesNotCompileIsToldInClangsWords) {
  Error error = compiled("void f(float *y) {\n  y[0] = undeclared;\n}", "f").error();
  EXPECT_EQ(error.kind, ErrorKind::User);
  EXPECT_THAT(error.what, HasSubstr("undeclared"));
  EXPECT_THAT(describe(error), HasSubstr(":2:"));
}

TEST_F(HostFunction, ThatIsNoSingleFunctionIsRefused) {
  EXPECT_THAT(compiled("void f(int) {}\nvoid f(float) {}", "f").error().what, HasSubstr("2 times"));
  EXPECT_THAT(compiled("void f(int &x) { x = 1; }", "f").error().what, HasSubstr("reference"));
  EXPECT_FALSE(compiled("template <class T> void f(T *) {}", "f"));
  EXPECT_FALSE(compiled("void f(int) {}", "f; int main() {}"));
  EXPECT_FALSE(compiled("void f(int) {}", ""));
}

} // namespace
} // namespace opsight::cuda
