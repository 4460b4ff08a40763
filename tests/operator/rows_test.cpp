// Operators on rows: PyTorch's values where they are known, data that can show a fault, and names for the faults.
#include "operator/binding.h"
#include <cmath>
#include <functional>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace opsight::ops {
namespace {

using testing::HasSubstr;
using Vector = std::vector<double>;

const Operator &named(const char *name) { return **findOperator(name); }
const char *const all[] = {"softmax", "softmax_backward", "layernorm", "layernorm_backward", "rmsnorm", "rmsnorm_backward"};

Options defaults(const Operator &op) { return *op.completeOptions({}); }

Case caseOf(const Operator &op, int64_t N, int64_t C, std::string distribution, Options options = {}) {
  Case c;
  c.symbols = {{"N", N}, {"C", C}};
  c.distribution = std::move(distribution);
  c.options = std::move(options);
  auto complete = op.completeCase(c);
  EXPECT_TRUE(complete) << describe(complete.error());
  return *complete;
}

Vector outputOf(const char *op, int64_t N, int64_t C, const char *distribution, Options options = {}) {
  return named(op).make(caseOf(named(op), N, C, distribution, options), 3)->outputs.at("output");
}

Tensor floats(const Vector &values, std::vector<int64_t> shape) {
  Tensor t{ElementType::Float32, std::move(shape), {}};
  std::vector<float> narrow(values.begin(), values.end());
  t.bytes.resize(narrow.size() * sizeof(float));
  std::memcpy(t.bytes.data(), narrow.data(), t.bytes.size());
  return t;
}

TEST(Rows, EveryOperatorHasTwentyCasesAndCanMakeThem) {
  for (const char *name : all) {
    const Operator &op = named(name);
    std::vector<Case> cases = op.cases(defaults(op));
    EXPECT_GE(cases.size(), 20u) << name;
    for (const Case &c : cases) {
      auto complete = op.completeCase(c);
      ASSERT_TRUE(complete) << name << ": " << describe(complete.error());
      auto problem = op.make(*complete, 7);
      ASSERT_TRUE(problem) << name << " " << c.name;
      for (const auto &[output, values] : problem->outputs)
        for (double v : values)
          ASSERT_TRUE(std::isfinite(v) || c.distribution == "minus-infinity" || c.distribution == "not-a-number")
              << name << " " << c.name << " " << output;
      bool isShort = c.symbols.at("C") <= 300 && c.symbols.at("N") <= 100; // one running sum of float is good for that
      if (isShort && c.distribution != "shifted" && c.distribution != "tiny")
        EXPECT_TRUE(problem->wellConditioned()) << name << " " << c.name << ": " << problem->plainError;
      EXPECT_LT(problem->plainError, c.distribution == "shifted" ? 0.05 : 1e-4) << name << " " << c.name;
    }
  }
}

TEST(Rows, ManyColumnsAreHeldAgainstTheirOwnSize) {
  const Operator &op = named("softmax");
  Problem problem = *op.make(caseOf(op, 2, 65537, "normal"), 3);
  EXPECT_LT(problem.magnitudes.at("output").front(), 0.01);
  EXPECT_EQ(problem.magnitudes.at("output").size(), 2u);
}

TEST(Softmax, IsWhatPublicReportsSayItIs) {
  for (double v : outputOf("softmax", 2, 512, "low-constant"))
    EXPECT_DOUBLE_EQ(v, 1.0 / 512);
  EXPECT_NEAR(outputOf("softmax", 1, 32, "all-negative", {{"log", "yes"}}).back(), -0.4586751, 1e-7);
  Vector far = outputOf("softmax", 1, 3, "far-apart");
  EXPECT_NEAR(far[0], 1, 1e-12);
  EXPECT_LT(far[1], 1e-200);
}

TEST(Softmax, OfNothingButMinusInfinityIsNotANumber) {
  Vector out = outputOf("softmax", 3, 8, "minus-infinity");
  EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[7]));
  EXPECT_EQ(out[9], 0);
  EXPECT_GT(out[8], 0);
  Vector mixed = outputOf("softmax", 2, 8, "not-a-number");
  EXPECT_FALSE(std::isnan(mixed[0]));
  for (size_t j = 8; j < 16; ++j)
    EXPECT_TRUE(std::isnan(mixed[j]));
}

TEST(Normalisation, TakesEpsOfTheCaseOfTheOptionOrTheUsualOne) {
  const Operator &op = named("layernorm");
  Case c = caseOf(op, 1, 4, "normal");
  EXPECT_FLOAT_EQ(float(*op.scalarOf(c, "eps")), 1e-5f);
  c.options["eps"] = "1e-12";
  EXPECT_FLOAT_EQ(float(*op.scalarOf(c, "eps")), 1e-12f);
  c.scalars["eps"] = 0.5;
  EXPECT_DOUBLE_EQ(*op.scalarOf(c, "eps"), 0.5);
  EXPECT_FALSE(op.scalarOf(c, "scale"));
}

TEST(Normalisation, OfAConstantRowIsItsBias) {
  const Operator &op = named("layernorm");
  Problem problem = *op.make(caseOf(op, 2, 8, "constant"), 3);
  for (size_t j = 0; j < 16; ++j)
    EXPECT_EQ(problem.outputs.at("output")[j], double(problem.inputs.at("bias").as<float>()[j % 8]));
}

/// What diagnose() says of the right output put through `spoil`.
std::string told(const char *name, const char *distribution, const char *tensor,
                 const std::function<void(const Case &, const Problem &, Vector &)> &spoil, Options options = {}) {
  const Operator &op = named(name);
  Case c = caseOf(op, 5, 67, distribution, options);
  Problem problem = *op.make(c, 11);
  Vector out = problem.outputs.at(tensor);
  spoil(c, problem, out);
  int64_t worst = 0;
  double largest = -1;
  for (size_t n = 0; n < out.size(); ++n) {
    double want = problem.outputs.at(tensor)[n], error = std::abs(out[n] - want);
    if (std::isnan(out[n]) != std::isnan(want))
      error = INFINITY;
    if (error > largest)
      worst = int64_t(n), largest = error;
  }
  auto info = std::ranges::find(op.tensors(), tensor, &TensorInfo::name);
  Diagnosis seen = op.diagnose(c, problem, {{tensor, floats(out, *extentsOf(*info, c.symbols))}}, tensor, worst);
  return seen.phase + ": " + seen.because;
}

TEST(RowDiagnosis, NamesWhatIsWrongWithASoftmax) {
  auto x = [](const Problem &p, size_t n) { return double(p.inputs.at("input").as<float>()[n]); };
  EXPECT_THAT(told("softmax", "normal", "output", [&](auto &, auto &p, Vector &y) {
                for (size_t r = 0; r < 5; ++r) {
                  double sum = 0;
                  for (size_t j = 0; j < 64; ++j)
                    sum += std::exp(x(p, r * 67 + j));
                  for (size_t j = 0; j < 67; ++j)
                    y[r * 67 + j] = std::exp(x(p, r * 67 + j)) / sum;
                }
              }), HasSubstr("sum: of the columns in the sum the last 3 of 67"));
  EXPECT_THAT(told("softmax", "shifted", "output", [&](auto &, auto &, Vector &y) { y[70] = NAN; }), HasSubstr("maximum: values of row 1"));
  EXPECT_THAT(told("softmax", "minus-infinity", "output", [&](auto &, auto &, Vector &y) { y[0] = 0; }),
              HasSubstr("exponentials: row 0 is minus infinity everywhere"));
  EXPECT_THAT(told("softmax", "normal", "output", [&](auto &, auto &, Vector &y) {
                std::rotate(y.begin(), y.begin() + 67, y.end());
              }), HasSubstr("indexing: row"));
  EXPECT_THAT(told("softmax", "normal", "output", [&](auto &, auto &, Vector &y) { for (double &v : y) v *= 3; }),
              HasSubstr("scale: every element"));
}

TEST(RowDiagnosis, NamesWhatIsWrongWithANormalisation) {
  EXPECT_THAT(told("layernorm", "normal", "output", [](auto &, auto &p, Vector &y) {
                for (size_t n = 0; n < y.size(); ++n)
                  y[n] -= double(p.inputs.at("bias").template as<float>()[n % 67]);
              }), HasSubstr("scale: the bias is missing"));
  EXPECT_THAT(told("rmsnorm", "tiny", "output", [](auto &, auto &p, Vector &y) {
                for (size_t r = 0; r < 5; ++r) {
                  double rstd = p.outputs.at("rstd")[r], square = 1 / (rstd * rstd) - double(1e-5f);
                  for (size_t j = 0; j < 67; ++j)
                    y[r * 67 + j] *= 1 / std::sqrt(square) / rstd;
                }
              }), HasSubstr("variance: eps is not added"));
  EXPECT_THAT(told("layernorm", "shifted-exact", "output", [](auto &, auto &p, Vector &y) {
                for (size_t n = 0; n < y.size(); ++n) {
                  double b = double(p.inputs.at("bias").template as<float>()[n % 67]);
                  y[n] = (y[n] - b) * 1.13 + b;
                }
              }), HasSubstr("variance: row"));
  EXPECT_THAT(told("layernorm", "normal", "mean", [](auto &, auto &, Vector &m) { for (double &v : m) v *= 67.0 / 66; }),
              HasSubstr("unknown"));
}

TEST(RowDiagnosis, NamesWhatIsWrongWithAGradient) {
  EXPECT_THAT(told("softmax_backward", "normal", "grad_input", [](auto &, auto &p, Vector &dx) {
                for (size_t n = 0; n < dx.size(); ++n)
                  dx[n] = double(p.inputs.at("output").template as<float>()[n]) * double(p.inputs.at("grad_output").template as<float>()[n]);
              }), HasSubstr("sum: the sum is not taken off"));
  EXPECT_THAT(told("layernorm_backward", "normal", "grad_bias", [](auto &, auto &p, Vector &db) {
                for (size_t j = 0; j < db.size(); ++j)
                  db[j] = double(p.inputs.at("grad_output").template as<float>()[4 * 67 + j]);
              }), HasSubstr("sum: only the last row counts"));
  EXPECT_THAT(told("rmsnorm_backward", "normal", "grad_input", [](auto &, auto &p, Vector &dx) {
                for (size_t n = 0; n < dx.size(); ++n)
                  dx[n] /= double(p.inputs.at("rstd").template as<float>()[n / 67]);
              }), HasSubstr("scale: the factor rstd is missing"));
}

std::string bound(const char *op, std::initializer_list<const char *> pointers, std::initializer_list<const char *> numbers,
                  std::map<std::string, std::string> arguments = {}) {
  std::vector<ParameterView> views;
  for (const char *name : pointers)
    views.push_back({name, true, false, ElementType::Float32, 8, "float *"});
  for (const char *name : numbers) {
    bool real = std::strstr(name, "eps");
    views.push_back({name, false, false, real ? ElementType::Float32 : ElementType::Int32, 4, real ? "float" : "int"});
  }
  auto bounds = ops::bind(named(op), views, arguments, defaults(named(op)));
  if (!bounds)
    return "error: " + describe(bounds.error());
  std::string text;
  for (const Bound &b : *bounds)
    text += (text.empty() ? "" : " ") + b.text;
  return text;
}

TEST(RowBinding, KnowsWhatTrainersCallThings) {
  EXPECT_EQ(bound("softmax", {"out", "inp"}, {"N", "C"}), "output input N C");
  EXPECT_EQ(bound("softmax", {"d_output", "d_input"}, {"num_rows", "num_cols", "input_row_stride"}), "output input N C row_stride");
  EXPECT_EQ(bound("layernorm", {"out", "mean", "rstd", "inp", "weight", "bias"}, {"B", "T", "C"}), "output mean rstd input weight bias B T C");
  EXPECT_EQ(bound("layernorm", {"y", "x", "gamma", "beta"}, {"rows", "hidden_size", "epsilon"}), "output input weight bias N C eps");
  EXPECT_EQ(bound("layernorm_backward", {"dinp", "dweight", "dbias", "dout", "inp", "weight", "mean", "rstd"}, {"B", "T", "C"}),
            "grad_input grad_weight grad_bias grad_output input weight mean rstd B T C");
  EXPECT_EQ(bound("rmsnorm_backward", {"dx", "dw", "dy", "x", "w", "inv_rms"}, {"N", "D"}), "grad_input grad_weight grad_output input weight rstd N C");
}

TEST(RowBinding, AsksForNamesThatCouldMeanTwoThings) {
  EXPECT_THAT(bound("softmax", {"out", "inp"}, {"n", "cols"}), HasSubstr("'int n' could be the number of rows or of columns"));
  EXPECT_THAT(bound("softmax", {"out", "inp"}, {"M", "N"}), HasSubstr("could be the number of rows or of columns"));
  EXPECT_THAT(bound("softmax", {"out", "inp"}, {"rows", "cols", "hidden_size"}), HasSubstr("would both receive C"));
  EXPECT_THAT(bound("layernorm_backward", {"dx", "dy", "d_x", "weight", "mean", "rstd"}, {}), HasSubstr("could be input or grad_input"));
  EXPECT_EQ(bound("softmax", {"out", "inp"}, {"M", "N"}, {{"M", "N"}, {"N", "C"}}), "output input N C");
}

TEST(RowBinding, HearsOfTwoFactorsOfTheRows) {
  const Operator &op = named("layernorm");
  Case c = caseOf(op, 12, 4, "normal");
  Problem problem = *op.make(c, 1);
  Symbols both = op.present(c, problem, {"B", "T", "C"}).symbols;
  EXPECT_EQ(both.at("B") * both.at("T"), 12);
  EXPECT_GT(both.at("B"), 1);
  EXPECT_EQ(op.present(c, problem, {"B"}).symbols.at("B"), 12);
  EXPECT_EQ(op.present(c, problem, {"T"}).symbols.at("T"), 12);
}

} // namespace
} // namespace opsight::ops
