#include "operator/normalisation/normalisation.h"
#include <cmath>
#include <fmt/format.h>

namespace opsight::ops {
namespace {
using namespace normalisation;

const std::vector<CaseRow> caseTable{
    {"N=64 C=128", "normal", "whole warps: the easy case"},
    {"N=3 C=1", "normal", "one column"},
    {"N=5 C=2", "late-maximum", "two columns, not alike"},
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
    {"N=4 C=4099", "normal", "a prime: no row but the first is aligned"},
    {"N=2 C=65537", "normal", "sums of very many terms"},
    {"N=65537 C=8", "normal", "sums over very many rows"},
    {"N=1 C=1000", "normal", "a single row"},
    {"N=31 C=70", "normal", "one row short of a warp"},
    {"N=33 C=70", "normal", "one row past a warp"},
    {"N=257 C=40", "normal", "one row past a block"},
    {"N=0 C=8", "normal", "no rows"},
    {"N=40 C=300", "scaled", "a small reciprocal deviation"},
    {"N=40 C=64", "shifted-exact", "a mean of 128"},
    {"N=40 C=300", "shifted", "a mean of 10000: x - mean must come before the product"},
    {"N=40 C=300", "peaked", "one column far from all others"},
    {"N=20 C=200", "tiny", "a variance below eps"},
    {"N=20 C=200", "zero-weight", "a weight of zeros: no gradient comes through"},
    {"N=20 C=200", "zero-gradient", "no gradient comes in"},
    {"N=1030 C=40", "row-index", "rows that differ: which row was read shows"},
    {"N=300 C=768", "outliers", "single outliers"},
};

/// One row's terms.
template <class Real> struct RowTerms {
  std::vector<Real> normalised, gradient; // x̂; grad_output · weight
  Real meanOfGradient = 0, meanOfProduct = 0;
};

class NormalisationBackward final : public RowWise {
public:
  explicit NormalisationBackward(Kind kind)
      : RowWise(onRows({.name = kind == Kind::Layer ? "layernorm_backward" : "rmsnorm_backward",
                        .summary = kind == Kind::Layer ? "gradients of layernorm, from grad_output, input, weight, mean and rstd, float"
                                                       : "gradients of rmsnorm, from grad_output, input, weight and rstd, float",
                        .tensors = backwardTensors(kind),
                        .options = {affineOption(kind),
                                    {"accumulate", {"none", "weights", "all"},
                                     "which gradients are added to what their buffers hold: those of weight and bias, or that of the input, too"}},
                        .cases = caseTable})),
        kind(kind) {}

  /// x̂ (2), its products with the gradient (4), the gradient of the input (5), those of weight and bias (3).
  Work work(const Case &c) const override {
    auto [N, C] = extentOf(c);
    double elements = double(N) * double(C);
    return {14 * elements, 2 * elements, 12 * elements};
  }

protected:
  Tensors fill(const Case &c, Random &random) const override;
  Values<double> reference(const Case &c, const Tensors &inputs) const override { return evaluate<double>(c, inputs); }
  Values<float> plain(const Case &c, const Tensors &inputs) const override { return evaluate<float>(c, inputs); }
  Values<double> magnitudes(const Case &c, const Tensors &inputs) const override;
  std::vector<Likeness> likenesses(const Case &c, const Tensors &inputs, const std::string &tensor, int64_t r) const override;

private:
  Kind kind;

  template <class Real> RowTerms<Real> termsOf(const Tensors &inputs, int64_t r, int64_t C) const {
    RowTerms<Real> terms;
    Real mean = Real(Elements(inputs, "mean")[r]), rstd = Real(Elements(inputs, "rstd")[r]);
    Elements x(inputs, "input"), dy(inputs, "grad_output"), weight(inputs, "weight", 1);
    for (int64_t j = 0; j < C; ++j) {
      terms.normalised.push_back((Real(x[r * C + j]) - mean) * rstd);
      terms.gradient.push_back(Real(dy[r * C + j]) * Real(weight[j]));
      terms.meanOfGradient += kind == Kind::Layer ? terms.gradient.back() : 0;
      terms.meanOfProduct += terms.gradient.back() * terms.normalised.back();
    }
    terms.meanOfGradient /= Real(C), terms.meanOfProduct /= Real(C);
    return terms;
  }
  template <class Real> Values<Real> evaluate(const Case &c, const Tensors &inputs) const;
  std::vector<Likeness> inputLikenesses(const Case &c, const Tensors &inputs, int64_t r) const;
  std::vector<Likeness> columnLikenesses(const Case &c, const Tensors &inputs, const std::string &tensor) const;
};

template <class Real> Values<Real> NormalisationBackward::evaluate(const Case &c, const Tensors &inputs) const {
  auto [N, C] = extentOf(c);
  auto begin = [&](const char *name, int64_t count) { // what the buffer holds before
    std::vector<Real> values(static_cast<size_t>(count));
    Elements held(inputs, name);
    for (int64_t n = 0; n < count; ++n)
      values[size_t(n)] = Real(held[n]);
    return values;
  };
  std::vector<Real> dx = begin("grad_input", N * C), dw = begin("grad_weight", C), db = begin("grad_bias", C);
  Elements gradients(inputs, "grad_output"), rstds(inputs, "rstd");
  for (int64_t r = 0; r < N; ++r) {
    RowTerms<Real> row = termsOf<Real>(inputs, r, C);
    Real rstd = Real(rstds[r]);
    for (int64_t j = 0; j < C; ++j) {
      Real dy = Real(gradients[r * C + j]);
      dx[r * C + j] += rstd * (row.gradient[j] - row.meanOfGradient - row.normalised[j] * row.meanOfProduct);
      dw[j] += dy * row.normalised[j];
      db[j] += dy;
    }
  }
  Values<Real> all{{"grad_input", std::move(dx)}, {"grad_weight", std::move(dw)}};
  if (kind == Kind::Layer)
    all["grad_bias"] = std::move(db);
  return all;
}

Tensors NormalisationBackward::fill(const Case &c, Random &random) const {
  auto extent = extentOf(c);
  Tensors inputs{{"input", floatsOf({extent.N, extent.C})}};
  fillRows(c.distribution, extent, random, inputs["input"].as<float>());
  inputs["grad_output"] = normalTensor({extent.N, extent.C}, random);
  if (has("weight", c.options))
    inputs["weight"] = normalTensor({extent.C}, random);
  if (c.distribution == "zero-weight" && inputs.contains("weight"))
    std::ranges::fill(inputs["weight"].as<float>(), 0.0f);
  if (c.distribution == "zero-gradient")
    std::ranges::fill(inputs["grad_output"].as<float>(), 0.0f);
  Tensor mean = floatsOf({extent.N}), rstd = floatsOf({extent.N});
  for (int64_t r = 0; r < extent.N; ++r) {
    auto row = inputs["input"].as<float>().subspan(size_t(r * extent.C), size_t(extent.C));
    Moments<double> moments = momentsOf<double>(row, kind, 1e-5);
    mean.as<float>()[size_t(r)] = float(moments.mean), rstd.as<float>()[size_t(r)] = float(moments.rstd);
  }
  if (kind == Kind::Layer)
    inputs["mean"] = std::move(mean);
  inputs["rstd"] = std::move(rstd);
  std::string accumulate = optionOf(c.options, "accumulate");
  if (accumulate == "weights" || accumulate == "all") {
    inputs["grad_weight"] = normalTensor({extent.C}, random);
    if (kind == Kind::Layer)
      inputs["grad_bias"] = normalTensor({extent.C}, random);
  }
  if (accumulate == "all")
    inputs["grad_input"] = normalTensor({extent.N, extent.C}, random);
  return inputs;
}

/// The input's gradient is a difference of terms about 1 times rstd, which a row's deviation makes small or large. The sums
/// over rows are those of terms of either sign: what is rounded grows with the root of their squares, not with the sum.
Values<double> NormalisationBackward::magnitudes(const Case &c, const Tensors &inputs) const {
  auto [N, C] = extentOf(c);
  std::vector<double> all(static_cast<size_t>(N), 1.0), weights(static_cast<size_t>(C)), biases(static_cast<size_t>(C));
  Elements gradients(inputs, "grad_output");
  for (int64_t r = 0; r < N; ++r) {
    RowTerms<double> row = termsOf<double>(inputs, r, C);
    for (int64_t j = 0; j < C; ++j)
      weights[j] += std::pow(gradients[r * C + j] * row.normalised[j], 2), biases[j] += std::pow(gradients[r * C + j], 2);
    double largest = 0, sum = 0, products = 0;
    for (int64_t j = 0; j < C; ++j)
      sum += std::abs(row.gradient[j]), products += std::abs(row.gradient[j] * row.normalised[j]);
    for (int64_t j = 0; j < C; ++j)
      largest = std::max(largest, std::abs(row.gradient[j]) + (sum + std::abs(row.normalised[j]) * products) / double(C));
    double scale = largest > 0 ? std::min(1.0, largest) * Elements(inputs, "rstd")[r] : 1;
    all[size_t(r)] = inputs.contains("grad_input") ? std::max(1.0, scale) : scale;
  }
  for (std::vector<double> *squares : {&weights, &biases})
    for (double &value : *squares)
      value = std::max(1.0, std::sqrt(value));
  Values<double> magnitudes{{"grad_input", std::move(all)}, {"grad_weight", std::move(weights)}};
  if (kind == Kind::Layer)
    magnitudes["grad_bias"] = std::move(biases);
  return magnitudes;
}

std::vector<Likeness> NormalisationBackward::inputLikenesses(const Case &c, const Tensors &inputs, int64_t r) const {
  int64_t C = extentOf(c).C;
  RowTerms<double> row = termsOf<double>(inputs, r, C);
  double rstd = Elements(inputs, "rstd")[r], mean = Elements(inputs, "mean")[r];
  Elements input(inputs, "input"), held(inputs, "grad_input");
  std::vector<Likeness> all;
  auto add = [&](const char *phase, const std::string &what, auto value) {
    std::vector<double> dx;
    for (int64_t j = 0; j < C; ++j)
      dx.push_back(held[r * C + j] + value(j));
    all.push_back({phase, what, std::move(dx)});
  };
  auto under = [&](double m, double p, int64_t j) { return rstd * (row.gradient[j] - m - row.normalised[j] * p); };
  for (const Subset &subset : faultySubsets(C)) {
    double m = 0, p = 0;
    for (int64_t j = 0; j < C; ++j)
      if (subset.takes(j))
        m += kind == Kind::Layer ? row.gradient[j] / double(C) : 0, p += row.gradient[j] * row.normalised[j] / double(C);
    add("sum", "of the columns in both sums " + subset.what, [&](int64_t j) { return under(m, p, j); });
  }
  double m = row.meanOfGradient, p = row.meanOfProduct, n = double(C);
  if (kind == Kind::Layer) {
    add("mean", "the mean of the gradient is not taken off", [&](int64_t j) { return under(0, p, j); });
    add("mean", "the sum of the gradient is not divided by C", [&](int64_t j) { return under(m * n, p, j); });
    add("mean", "neither sum is divided by C", [&](int64_t j) { return under(m * n, p * n, j); });
    double q = 0; // of products with the input as it is
    for (int64_t k = 0; k < C; ++k)
      q += row.gradient[k] * input[r * C + k] * rstd / n;
    add("mean", "the mean is not taken off the input",
        [&](int64_t j) { return rstd * (row.gradient[j] - m - input[r * C + j] * rstd * q); });
  }
  add("variance", "the term of the deviation is missing: rstd is taken for a constant", [&](int64_t j) { return under(m, 0, j); });
  add("variance", "the sum of the term of the deviation is not divided by C", [&](int64_t j) { return under(m, p * n, j); });
  add("scale", "the factor rstd is missing", [&](int64_t j) { return under(m, p, j) / rstd; });
  add("scale", "only the direct term: neither mean nor deviation depend on the input", [&](int64_t j) { return under(0, 0, j); });
  Tensors unweighed = inputs;
  unweighed.erase("weight");
  RowTerms<double> bare = termsOf<double>(unweighed, r, C);
  if (inputs.contains("weight"))
    add("scale", "the weight is missing", [&](int64_t j) {
      return rstd * (bare.gradient[j] - bare.meanOfGradient - bare.normalised[j] * bare.meanOfProduct);
    });
  if (inputs.contains("grad_input"))
    add("sum", "what the buffer held before is overwritten, not added to",
        [&](int64_t j) { return under(m, p, j) - held[r * C + j]; });
  else
    add("variance", "x and not x̂ is multiplied with the term of the deviation",
        [&](int64_t j) { return rstd * (row.gradient[j] - m - (input[r * C + j] - mean) * p); });
  return all;
}

std::vector<Likeness> NormalisationBackward::columnLikenesses(const Case &c, const Tensors &inputs, const std::string &tensor) const {
  auto [N, C] = extentOf(c);
  bool isWeight = tensor == "grad_weight";
  Elements x(inputs, "input"), dy(inputs, "grad_output"), means(inputs, "mean"), rstds(inputs, "rstd"), held(inputs, tensor);
  std::vector<Likeness> all;
  auto sum = [&, N = N, C = C](auto takes, auto term) {
    std::vector<double> total(static_cast<size_t>(C));
    for (int64_t r = 0; r < N; ++r)
      for (int64_t j = 0; takes(r) && j < C; ++j)
        total[size_t(j)] += dy[r * C + j] * term(r, j);
    return total;
  };
  auto initial = [&](std::vector<double> values) {
    for (size_t j = 0; j < values.size(); ++j)
      values[j] += held[int64_t(j)];
    return values;
  };
  auto right = [&, C = C](int64_t r, int64_t j) {
    return isWeight ? (x[r * C + j] - means[r]) * rstds[r] : 1;
  };
  auto every = [](int64_t) { return true; };
  for (const Subset &subset : faultySubsets(N))
    all.push_back({"sum", "of the rows in the sum " + subset.what, initial(sum(subset.takes, right))});
  all.push_back({"sum", "only the last row counts: rows overwrite one another",
                 initial(sum([N = N](int64_t r) { return r == N - 1; }, right))});
  all.push_back({"sum", "only the first row counts", initial(sum([](int64_t r) { return r == 0; }, right))});
  std::vector<double> mean = sum(every, right);
  if (inputs.contains(tensor))
    all.push_back({"sum", "what the buffer held before is overwritten, not added to", mean});
  for (double &v : mean)
    v /= double(std::max<int64_t>(N, 1));
  all.push_back({"scale", "this is the mean over the rows, not the sum", initial(mean)});
  if (!isWeight)
    return all;
  all.push_back({"scale", "the input is not normalised", initial(sum(every, [&, C = C](int64_t r, int64_t j) { return x[r * C + j]; }))});
  all.push_back({"mean", "the mean is not taken off", initial(sum(every, [&, C = C](int64_t r, int64_t j) {
                   return x[r * C + j] * rstds[r]; }))});
  all.push_back({"variance", "the factor rstd is missing", initial(sum(every, [&, C = C](int64_t r, int64_t j) {
                   return x[r * C + j] - means[r]; }))});
  all.push_back({"scale", "this is the sum of the gradient: the bias's", initial(sum(every, [](int64_t, int64_t) { return 1.0; }))});
  return all;
}

std::vector<Likeness> NormalisationBackward::likenesses(const Case &c, const Tensors &inputs, const std::string &tensor,
                                                        int64_t r) const {
  return tensor == "grad_input" ? inputLikenesses(c, inputs, r) : columnLikenesses(c, inputs, tensor);
}

} // namespace

const Operator &layernormBackward() {
  static const NormalisationBackward op(Kind::Layer);
  return op;
}

const Operator &rmsnormBackward() {
  static const NormalisationBackward op(Kind::Rms);
  return op;
}

} // namespace opsight::ops
