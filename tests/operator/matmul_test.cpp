// The product of matrices and its epilogues: values that are known, and what is said of wrong ones.
#include "operator/binding.h"
#include <cmath>
#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opsight::ops {
namespace {

using testing::HasSubstr;
using Vector = std::vector<double>;

const Operator &op() { return **findOperator("matmul"); }

Case caseOf(int64_t M, int64_t N, int64_t K, Options options = {}, std::string distribution = "normal") {
  Case c;
  c.symbols = {{"M", M}, {"N", N}, {"K", K}};
  c.options = std::move(options);
  c.distribution = std::move(distribution);
  auto complete = op().completeCase(c);
  EXPECT_TRUE(complete) << describe(complete.error());
  return *complete;
}

double exactGelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

/// The formula once more, element by element.
Vector product(const Case &c, const Problem &p) {
  int64_t M = c.symbols.at("M"), N = c.symbols.at("N"), K = c.symbols.at("K");
  auto at = [&](const char *name, int64_t n) { return double(p.inputs.at(name).as<float>()[size_t(n)]); };
  const std::string &epilogue = c.options.at("epilogue");
  auto has = [&](const char *what) { return epilogue.find(what) != epilogue.npos; };
  Vector out;
  for (int64_t i = 0; i < M; ++i)
    for (int64_t j = 0; j < N; ++j) {
      double x = has("bias") ? at("bias", j) : 0;
      for (int64_t k = 0; k < K; ++k)
        x += at("a", i * K + k) * at("b", c.options.at("transpose_b") == "yes" ? j * K + k : k * N + j);
      out.push_back((has("gelu") ? exactGelu(x) : x) + (has("residual") ? at("residual", i * N + j) : 0));
    }
  return out;
}

TEST(Matmul, IsWhatItsFormulaSaysUnderEveryOption) {
  for (const std::string &transposed : op().options()[0].values)
    for (const std::string &epilogue : op().options()[1].values) {
      Case c = caseOf(5, 7, 9, {{"transpose_b", transposed}, {"epilogue", epilogue}});
      Problem problem = *op().make(c, 3);
      Vector want = product(c, problem);
      for (size_t n = 0; n < want.size(); ++n)
        EXPECT_NEAR(problem.outputs.at("output")[n], want[n], 1e-12) << transposed << " " << epilogue;
    }
}

TEST(Matmul, OfNoProductsIsWhatTheEpilogueMakesOfZero) {
  EXPECT_EQ(op().make(caseOf(17, 17, 0), 3)->outputs.at("output"), Vector(17 * 17, 0.0));
  Problem problem = *op().make(caseOf(2, 3, 0, {{"epilogue", "bias-gelu"}}), 3);
  EXPECT_NEAR(problem.outputs.at("output")[4], exactGelu(double(problem.inputs.at("bias").as<float>()[1])), 1e-12);
}

TEST(Matmul, EveryCaseCanBeMade) {
  for (const std::string &transposed : op().options()[0].values) {
    Options options = *op().completeOptions({{"transpose_b", transposed}, {"epilogue", "bias-gelu-residual"}});
    std::vector<Case> cases = op().cases(options);
    EXPECT_GE(cases.size(), 20u);
    for (const Case &c : cases) {
      auto problem = op().make(c, 7);
      ASSERT_TRUE(problem) << c.name;
      EXPECT_LT(problem->plainError, 2e-4) << c.name;
      if (c.distribution == "normal" && c.symbols.at("K") < 100)
        EXPECT_TRUE(problem->wellConditioned()) << c.name << problem->plainError;
    }
  }
}

TEST(Matmul, OfLargeMatricesIsEvaluatedPlainlyOnASampleOfRows) {
  Problem problem = *op().make(caseOf(300, 300, 1500), 3);
  EXPECT_GT(problem.plainError, 1e-7);
  EXPECT_LT(problem.plainError, 2e-5);
}

std::string told(const Case &c, const std::function<void(const Problem &, Vector &)> &spoil) {
  Problem problem = *op().make(c, 11);
  Vector out = problem.outputs.at("output");
  spoil(problem, out);
  int64_t worst = 0;
  for (size_t n = 0; n < out.size(); ++n)
    if (std::abs(out[n] - problem.outputs.at("output")[n]) > std::abs(out[size_t(worst)] - problem.outputs.at("output")[size_t(worst)]))
      worst = int64_t(n);
  Tensor written{ElementType::Float32, {c.symbols.at("M"), c.symbols.at("N")}, {}};
  std::vector<float> narrow(out.begin(), out.end());
  written.bytes.resize(narrow.size() * sizeof(float));
  std::memcpy(written.bytes.data(), narrow.data(), written.bytes.size());
  Diagnosis seen = op().diagnose(c, problem, {{"output", written}}, "output", worst);
  return seen.phase + ": " + seen.because;
}

TEST(MatmulDiagnosis, NamesThePhaseThatWentWrong) {
  Case plain = caseOf(20, 30, 67), whole = caseOf(20, 30, 20, {{"epilogue", "bias-gelu-residual"}});
  EXPECT_THAT(told(plain, [](const Problem &p, Vector &y) {
                for (int64_t i = 0; i < 20; ++i)
                  for (int64_t j = 0; j < 30; ++j)
                    for (int64_t k = 64; k < 67; ++k)
                      y[size_t(i * 30 + j)] -= double(p.inputs.at("a").as<float>()[size_t(i * 67 + k)]) *
                                               double(p.inputs.at("b").as<float>()[size_t(k * 30 + j)]);
              }), HasSubstr("sum: of the products the last 3 of 67"));
  EXPECT_THAT(told(whole, [](const Problem &p, Vector &y) {
                for (size_t n = 0; n < y.size(); ++n)
                  y[n] -= double(p.inputs.at("residual").as<float>()[n]);
              }), HasSubstr("residual: the residual is missing"));
  EXPECT_THAT(told(plain, [](const Problem &, Vector &y) { std::rotate(y.begin(), y.begin() + 30, y.end()); }),
              HasSubstr("indexing: row"));
  EXPECT_THAT(told(plain, [](const Problem &, Vector &y) { for (double &v : y) v *= 2; }), HasSubstr("scale: every element"));
}

TEST(MatmulBinding, KnowsItsTensorsAndTheOldParametersOfGemm) {
  std::vector<ParameterView> views;
  for (const char *name : {"A", "B", "C"})
    views.push_back({name, true, false, ElementType::Float32, 8, "float *"});
  for (const char *name : {"M", "N", "K", "lda"})
    views.push_back({name, false, false, ElementType::Int32, 4, "int"});
  for (const char *name : {"alpha", "beta"})
    views.push_back({name, false, false, ElementType::Float32, 4, "float"});
  auto bounds = ops::bind(op(), views, {}, *op().completeOptions({}));
  ASSERT_TRUE(bounds) << describe(bounds.error());
  std::string text;
  for (const Bound &b : *bounds)
    text += b.text + " ";
  EXPECT_EQ(text, "a b output M N K lda alpha beta ");
  EXPECT_EQ(*op().scalarOf(caseOf(1, 1, 1), "alpha"), 1);
  EXPECT_EQ(*op().scalarOf(caseOf(1, 1, 1), "beta"), 0);
}

} // namespace
} // namespace opsight::ops
