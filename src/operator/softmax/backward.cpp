#include "operator/softmax/softmax.h"
#include <cmath>
#include <numeric>

namespace opsight::ops {
namespace {
using namespace softmaxes;

const std::vector<CaseRow> caseTable{
    {"N=64 C=128", "normal", "whole warps: the easy case"},
    {"N=1 C=1", "normal", "one column: no gradient"},
    {"N=5 C=2", "normal", "two columns"},
    {"N=5 C=31", "normal", "one short of a warp"},
    {"N=5 C=33", "normal", "one past a warp"},
    {"N=7 C=63", "normal", "one short of two warps"},
    {"N=7 C=64", "normal", "two warps"},
    {"N=7 C=65", "normal", "one past two warps"},
    {"N=3 C=255", "normal", "one short of a block"},
    {"N=3 C=257", "normal", "one past a block"},
    {"N=33 C=1000", "normal", "a tail for every vector width above eight"},
    {"N=9 C=1023", "long-tailed", "one short of a block's threads"},
    {"N=9 C=1025", "normal", "one past a block's threads"},
    {"N=4 C=4096", "normal", "many elements a thread"},
    {"N=4 C=4099", "normal", "a prime: no row but the first is aligned"},
    {"N=2 C=65537", "normal", "the sum of very many small terms"},
    {"N=65537 C=3", "normal", "rows past 65535"},
    {"N=0 C=8", "normal", "no rows"},
    {"N=40 C=300", "scaled", "a few columns have nearly all weight"},
    {"N=40 C=300", "peaked", "one column has nearly all weight: small differences of large terms"},
    {"N=40 C=96", "constant", "equal weights"},
    {"N=40 C=301", "far-apart", "weights of exactly one and zero"},
    {"N=9 C=1000", "late-maximum", "the weight lies in the last column"},
    {"N=9 C=2049", "late-large", "all of it in the last column, alone past every block"},
    {"N=20 C=200", "zero-gradient", "no gradient comes in, none goes out"},
    {"N=1030 C=40", "row-index", "rows that differ: which row was read shows"},
    {"N=300 C=768", "outliers", "single outliers"},
};

class SoftmaxBackward final : public RowWise {
public:
  SoftmaxBackward()
      : RowWise(onRows({.name = "softmax_backward",
                        .summary = "gradient of softmax over the last dimension, from output and grad_output, float",
                        .tensors = {{"output", {"N", "C"}, TensorInfo::Role::Input, false,
                                     {"y", "out", "output", "probs", "p", "softmax_out", "softmax_output", "o"}},
                                    {"grad_output", {"N", "C"}, TensorInfo::Role::Input, false,
                                     {"dy", "dout", "grad_output", "grad", "gy", "doutput", "dprobs", "grad_out", "dp"}},
                                    {"grad_input", {"N", "C"}, TensorInfo::Role::Output, false,
                                     {"dx", "dinp", "grad_input", "gx", "din", "dinput", "grad_in", "dlogits", "ds"}}},
                        .options = {{"log", {"no", "yes"}, "the gradient of the logarithm of the softmax"}},
                        .cases = caseTable})) {}

  Work work(const Case &c) const override {
    auto [N, C] = extentOf(c);
    double elements = double(N) * double(C);
    return {flopsBackward * elements, elements, 12 * elements};
  }

protected:
  Tensors fill(const Case &c, Random &random) const override;
  Values<double> reference(const Case &c, const Tensors &inputs) const override { return evaluate<double>(c, inputs); }
  Values<float> plain(const Case &c, const Tensors &inputs) const override { return evaluate<float>(c, inputs); }
  Values<double> magnitudes(const Case &c, const Tensors &inputs) const override;
  std::vector<Likeness> likenesses(const Case &c, const Tensors &inputs, const std::string &tensor, int64_t r) const override;

private:
  template <class Real> Values<Real> evaluate(const Case &c, const Tensors &inputs) const {
    auto [N, C] = extentOf(c);
    auto y = inputs.at("output").as<float>(), dy = inputs.at("grad_output").as<float>();
    std::vector<Real> dx(y.size());
    for (int64_t r = 0; r < N; ++r) {
      Real sum = 0;
      for (int64_t n = r * C; n < (r + 1) * C; ++n)
        sum += isLog(c) ? Real(dy[n]) : Real(dy[n]) * Real(y[n]);
      for (int64_t n = r * C; n < (r + 1) * C; ++n)
        dx[n] = isLog(c) ? Real(dy[n]) - std::exp(Real(y[n])) * sum : Real(y[n]) * (Real(dy[n]) - sum);
    }
    return {{"grad_input", std::move(dx)}};
  }
};

Tensors SoftmaxBackward::fill(const Case &c, Random &random) const {
  auto extent = extentOf(c);
  Tensor x = floatsOf({extent.N, extent.C});
  fillRows(c.distribution, extent, random, x.as<float>());
  Tensors inputs{{"output", floatsOf(x.shape)}, {"grad_output", normalTensor(x.shape, random)}};
  std::vector<double> y(static_cast<size_t>(extent.C));
  for (int64_t r = 0; r < extent.N; ++r) {
    forwardRow<double>(x.as<float>().subspan(size_t(r * extent.C), size_t(extent.C)), isLog(c), y.data());
    std::ranges::transform(y, inputs["output"].as<float>().begin() + r * extent.C, [](double v) { return float(v); });
  }
  if (c.distribution == "zero-gradient")
    std::ranges::fill(inputs["grad_output"].as<float>(), 0.0f);
  return inputs;
}

/// What is subtracted can cancel. Errors are held against the row's largest term; of the logarithm, against the sum's part in
/// the element, which grows with the root of the sum's squares.
Values<double> SoftmaxBackward::magnitudes(const Case &c, const Tensors &inputs) const {
  auto [N, C] = extentOf(c);
  bool log = isLog(c);
  std::vector<double> all(static_cast<size_t>(log ? N * C : N), 1.0);
  for (int64_t r = 0; r < N; ++r) {
    std::vector<double> y = rowOf(inputs.at("output"), r, C), dy = rowOf(inputs.at("grad_output"), r, C);
    if (log) {
      double root = std::sqrt(std::inner_product(dy.begin(), dy.end(), dy.begin(), 0.0));
      for (int64_t j = 0; j < C; ++j)
        all[size_t(r * C + j)] = std::max(1.0, std::exp(y[size_t(j)]) * root);
      continue;
    }
    double sum = 0, largest = 0;
    for (int64_t j = 0; j < C; ++j)
      sum += std::abs(dy[j] * y[j]);
    for (int64_t j = 0; j < C; ++j)
      largest = std::max(largest, y[j] * (std::abs(dy[j]) + sum));
    if (largest > 0)
      all[size_t(r)] = std::min(1.0, largest);
  }
  return {{"grad_input", std::move(all)}};
}

std::vector<Likeness> SoftmaxBackward::likenesses(const Case &c, const Tensors &inputs, const std::string &, int64_t r) const {
  bool log = isLog(c);
  int64_t C = extentOf(c).C;
  std::vector<double> y = rowOf(inputs.at("output"), r, C), dy = rowOf(inputs.at("grad_output"), r, C);
  auto sumOver = [&](auto takes) {
    double sum = 0;
    for (int64_t j = 0; j < C; ++j)
      sum += takes(j) ? (log ? dy[j] : dy[j] * y[j]) : 0;
    return sum;
  };
  std::vector<Likeness> all;
  auto add = [&](const char *phase, const std::string &what, auto value) {
    std::vector<double> dx;
    for (int64_t j = 0; j < C; ++j)
      dx.push_back(value(j));
    all.push_back({phase, what, std::move(dx)});
  };
  auto under = [&](double sum, int64_t j) { return log ? dy[j] - std::exp(y[j]) * sum : y[j] * (dy[j] - sum); };
  for (const Subset &subset : faultySubsets(C))
    add("sum", "of the columns in the sum " + subset.what, [&, sum = sumOver(subset.takes)](int64_t j) { return under(sum, j); });
  double sum = sumOver([](int64_t) { return true; }), plainSum = 0, weights = 0;
  for (int64_t j = 0; j < C; ++j)
    plainSum += dy[j], weights += y[j];
  add("sum", "the sum is not taken off", [&](int64_t j) { return under(0, j); });
  add("sum", "the sum has the wrong sign", [&](int64_t j) { return under(-sum, j); });
  add("sum", "the sum is divided by C: a mean", [&](int64_t j) { return under(sum / double(C), j); });
  if (!log) {
    add("sum", "the sum is of grad_output alone, not weighed by the output", [&](int64_t j) { return under(plainSum, j); });
    add("sum", "the sum is of the output alone", [&](int64_t j) { return under(weights, j); });
    add("scale", "the difference is not multiplied by the output", [&](int64_t j) { return dy[j] - sum; });
    add("scale", "the sum is not multiplied by the output", [&](int64_t j) { return y[j] * dy[j] - sum; });
    add("scale", "this is the diagonal alone: y (1 - y) dy", [&](int64_t j) { return y[j] * (1 - y[j]) * dy[j]; });
    add("scale", "this is the gradient for the logarithm of the softmax", [&](int64_t j) { return dy[j] - y[j] * plainSum; });
  } else {
    add("exponentials", "the output is taken as a probability, without the exponential", [&](int64_t j) { return dy[j] - y[j] * sum; });
    add("scale", "the sum is not multiplied by the probability", [&](int64_t j) { return dy[j] - sum; });
  }
  return all;
}

} // namespace

const Operator &softmaxBackward() {
  static const SoftmaxBackward op;
  return op;
}

} // namespace opsight::ops
