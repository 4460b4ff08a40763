// Backward operators against finite differences of a forward that is written here, in double precision.
#include "operator/operator.h"
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace opsight::ops {
namespace {

using Vector = std::vector<double>;

Vector doubles(const Problem &problem, const std::string &name) {
  auto values = problem.inputs.at(name).as<float>();
  return {values.begin(), values.end()};
}

Case small(const Operator &op, Options options = {}, std::string distribution = "normal") {
  Case c;
  c.symbols = {{"N", 3}, {"C", 7}};
  c.options = std::move(options);
  c.distribution = std::move(distribution);
  auto complete = op.completeCase(c);
  EXPECT_TRUE(complete) << describe(complete.error());
  return *complete;
}

/// d loss / d x by central differences.
Vector differences(Vector x, const std::function<double(const Vector &)> &loss) {
  Vector gradient;
  for (double &element : x) {
    double step = 1e-5 * std::max(1.0, std::abs(element)), kept = element;
    element = kept + step;
    double above = loss(x);
    element = kept - step;
    gradient.push_back((above - loss(x)) / (2 * step));
    element = kept;
  }
  return gradient;
}

void near(const Vector &got, const Vector &want, double tolerance = 2e-6) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t n = 0; n < got.size(); ++n)
    EXPECT_NEAR(got[n], want[n], tolerance * std::max(1.0, std::abs(want[n]))) << "element " << n;
}

double dot(const Vector &a, const Vector &b) {
  double sum = 0;
  for (size_t n = 0; n < a.size(); ++n)
    sum += a[n] * b[n];
  return sum;
}

Vector softmaxOf(const Vector &x, size_t C, bool log) {
  Vector y;
  for (size_t r = 0; r < x.size(); r += C) {
    double sum = 0;
    for (size_t j = 0; j < C; ++j)
      sum += std::exp(x[r + j]);
    for (size_t j = 0; j < C; ++j)
      y.push_back(log ? x[r + j] - std::log(sum) : std::exp(x[r + j]) / sum);
  }
  return y;
}

Vector normalised(const Vector &x, const Vector &weight, const Vector &bias, bool centred) {
  size_t C = weight.size();
  Vector y;
  for (size_t r = 0; r < x.size(); r += C) {
    double mean = 0, square = 0;
    for (size_t j = 0; j < C && centred; ++j)
      mean += x[r + j] / double(C);
    for (size_t j = 0; j < C; ++j)
      square += std::pow(x[r + j] - mean, 2) / double(C);
    for (size_t j = 0; j < C; ++j)
      y.push_back((x[r + j] - mean) / std::sqrt(square + 1e-5) * weight[j] + bias[j]);
  }
  return y;
}

TEST(Gradients, OfSoftmaxAreThoseOfFiniteDifferences) {
  const Operator &op = **findOperator("softmax_backward");
  for (bool log : {false, true}) {
    Problem problem = *op.make(small(op, {{"log", log ? "yes" : "no"}}), 5);
    Vector y = doubles(problem, "output"), dy = doubles(problem, "grad_output"), x;
    for (double v : y)
      x.push_back(log ? v : std::log(v));
    near(problem.outputs.at("grad_input"), differences(x, [&](const Vector &at) { return dot(dy, softmaxOf(at, 7, log)); }));
  }
}

TEST(Gradients, OfNormalisationsAreThoseOfFiniteDifferences) {
  for (bool centred : {true, false})
    for (std::string distribution : {"normal", "scaled", "tiny"}) {
      const Operator &op = **findOperator(centred ? "layernorm_backward" : "rmsnorm_backward");
      Problem problem = *op.make(small(op, {}, distribution), 5);
      Vector x = doubles(problem, "input"), dy = doubles(problem, "grad_output"), w = doubles(problem, "weight"), b(w.size());
      auto loss = [&](const Vector &x, const Vector &w, const Vector &b) { return dot(dy, normalised(x, w, b, centred)); };
      near(problem.outputs.at("grad_input"), differences(x, [&](const Vector &at) { return loss(at, w, b); }), 2e-5);
      near(problem.outputs.at("grad_weight"), differences(w, [&](const Vector &at) { return loss(x, at, b); }));
      if (centred)
        near(problem.outputs.at("grad_bias"), differences(b, [&](const Vector &at) { return loss(x, w, at); }));
    }
}

struct Attention {
  int64_t H, Hkv, L, S, D, Dv;
  bool causal;
  double scale;
};

/// Σ grad_output · softmax(scale Q Kᵀ) V.
double attentionLoss(const Attention &a, const Vector &q, const Vector &k, const Vector &v, const Vector &dy) {
  double loss = 0;
  for (int64_t h = 0; h < a.H; ++h)
    for (int64_t i = 0; i < a.L; ++i) {
      const int64_t kv = h / (a.H / a.Hkv), seen = a.causal ? std::min(i + 1, a.S) : a.S;
      Vector weights;
      double sum = 0;
      for (int64_t j = 0; j < seen; ++j) {
        double score = 0;
        for (int64_t d = 0; d < a.D; ++d)
          score += q[(h * a.L + i) * a.D + d] * k[(kv * a.S + j) * a.D + d];
        sum += weights.emplace_back(std::exp(a.scale * score));
      }
      for (int64_t j = 0; j < seen; ++j)
        for (int64_t d = 0; d < a.Dv; ++d)
          loss += weights[j] / sum * v[(kv * a.S + j) * a.Dv + d] * dy[(h * a.L + i) * a.Dv + d];
    }
  return loss;
}

TEST(Gradients, OfAttentionAreThoseOfFiniteDifferences) {
  const Operator &op = **findOperator("scaled_dot_product_attention_backward");
  for (bool causal : {false, true}) {
    Case c;
    c.symbols = {{"H", 4}, {"Hkv", 2}, {"L", 5}, {"S", 7}, {"D", 3}, {"Dv", 2}};
    c.options = {{"causal", causal ? "top-left" : "none"}};
    Case complete = *op.completeCase(c);
    Problem problem = *op.make(complete, 5);
    const Attention a{4, 2, 5, 7, 3, 2, causal, *op.scalarOf(complete, "scale")};
    Vector q = doubles(problem, "query"), k = doubles(problem, "key"), v = doubles(problem, "value"), dy = doubles(problem, "grad_output");
    near(problem.outputs.at("grad_query"), differences(q, [&](const Vector &at) { return attentionLoss(a, at, k, v, dy); }));
    near(problem.outputs.at("grad_key"), differences(k, [&](const Vector &at) { return attentionLoss(a, q, at, v, dy); }));
    near(problem.outputs.at("grad_value"), differences(v, [&](const Vector &at) { return attentionLoss(a, q, k, at, dy); }));
  }
}

TEST(Gradients, OfARowThatSeesNoKeyAreZero) {
  const Operator &op = **findOperator("scaled_dot_product_attention_backward");
  Case c;
  c.symbols = {{"L", 5}, {"S", 2}, {"D", 3}};
  c.options = {{"causal", "bottom-right"}};
  Problem problem = *op.make(*op.completeCase(c), 5);
  for (size_t n = 0; n < 3 * 3; ++n)
    EXPECT_EQ(problem.outputs.at("grad_query")[n], 0.0);
  for (double element : problem.outputs.at("grad_key"))
    EXPECT_TRUE(std::isfinite(element));
}

TEST(Gradients, AreAddedToWhatTheirBuffersHold) {
  const Operator &op = **findOperator("layernorm_backward");
  Problem plain = *op.make(small(op), 5), added = *op.make(small(op, {{"accumulate", "all"}}), 5);
  for (std::string name : {"grad_input", "grad_weight", "grad_bias"}) {
    Vector want = plain.outputs.at(name), held = doubles(added, name);
    for (size_t n = 0; n < want.size(); ++n)
      want[n] += held[n];
    near(added.outputs.at(name), want, 1e-12);
  }
}

} // namespace
} // namespace opsight::ops
