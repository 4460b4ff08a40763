#include "operator/normalisation/normalisation.h"
#include <cmath>
#include <fmt/format.h>

namespace opsight::ops {
namespace {
using namespace normalisation;

const std::vector<CaseRow> caseTable{
    {"N=64 C=128", "normal", "whole warps: the easy case, kept so that a failure elsewhere can be told apart"},
    {"N=3 C=1", "normal", "one column: no variance at all"},
    {"N=5 C=2", "late-maximum", "two columns, not alike"},
    {"N=5 C=31", "normal", "one short of a warp"},
    {"N=5 C=33", "normal", "one past a warp"},
    {"N=7 C=63", "normal", "one short of two warps"},
    {"N=7 C=64", "normal", "two warps"},
    {"N=7 C=65", "normal", "one past two warps"},
    {"N=3 C=255", "normal", "one short of a block"},
    {"N=3 C=257", "normal", "one past a block"},
    {"N=33 C=1000", "normal", "no power of two: a tail for every vector width above eight"},
    {"N=9 C=1023", "long-tailed", "one short of a block's threads, long tails"},
    {"N=9 C=1025", "normal", "one past a block's threads"},
    {"N=4 C=4096", "normal", "many elements a thread"},
    {"N=4 C=4099", "normal", "a prime: no row but the first is aligned to a vector"},
    {"N=2 C=65537", "normal", "one past 65536: sums of very many terms"},
    {"N=65537 C=8", "normal", "rows past the 65535 that a grid's y and z hold in CUDA"},
    {"N=0 C=8", "normal", "no rows: an empty output"},
    {"N=1 C=1000", "normal", "a single row"},
    {"N=300 C=768", "normal", "a usual hidden size"},
    {"N=40 C=300", "scaled", "values of 30 and more"},
    {"N=40 C=64", "shifted-exact", "a mean of 128 that float holds exactly: a variance by E[x²] - E[x]² loses its bits"},
    {"N=40 C=1024", "shifted-exact", "the same over more columns"},
    {"N=40 C=300", "shifted", "ill-conditioned: a mean of 10000, where E[x²] - E[x]² has nothing left"},
    {"N=40 C=300", "peaked", "one column far from all others"},
    {"N=40 C=96", "constant", "no variance: eps alone is left under the root"},
    {"N=7 C=500", "all-negative", "all negative"},
    {"N=5 C=2000", "rising", "values that grow along the row"},
    {"N=9 C=1000", "late-maximum", "the largest alone in the last column"},
    {"N=9 C=2049", "late-large", "120 in the last column, alone past every block"},
    {"N=20 C=200", "tiny", "a variance below eps: its place under the root shows"},
    {"N=20 C=200", "tiny", "an eps of the case's own", "eps=0.125"},
    {"N=20 C=200", "normal", "an eps of the case's own", "eps=0.125"},
    {"N=20 C=200", "zero", "rows of zeros"},
    {"N=20 C=200", "zero-weight", "a weight of zeros"},
    {"N=1030 C=40", "row-index", "rows that differ: which row was read shows"},
    {"N=300 C=768", "outliers", "single outliers"},
};

class Normalisation final : public RowWise {
public:
  explicit Normalisation(Kind kind)
      : RowWise(onRows({.name = kind == Kind::Layer ? "layernorm" : "rmsnorm",
                        .summary = kind == Kind::Layer ? "layer normalisation over the last dimension, forward, float"
                                                       : "root-mean-square normalisation over the last dimension, forward, float",
                        .tensors = forwardTensors(kind),
                        .scalars = {epsScalar()},
                        .options = {affineOption(kind), epsOption()},
                        .cases = caseTable})),
        kind(kind) {}

  std::optional<double> scalarOf(const Case &c, const std::string &name) const override {
    return name == "eps" ? std::optional(epsOf(c)) : std::nullopt;
  }
  /// Sum, difference, square and its sum, product; weight and bias one each.
  Work work(const Case &c) const override {
    auto [N, C] = extentOf(c);
    double elements = double(N) * double(C), each = kind == Kind::Layer ? 7 : 4;
    return {each * elements, 2 * elements, 8 * elements};
  }

protected:
  Tensors fill(const Case &c, Random &random) const override;
  Values<double> reference(const Case &c, const Tensors &inputs) const override { return evaluate<double>(c, inputs); }
  Values<float> plain(const Case &c, const Tensors &inputs) const override { return evaluate<float>(c, inputs); }
  std::vector<Likeness> likenesses(const Case &c, const Tensors &inputs, const std::string &tensor, int64_t r) const override;
  std::optional<Diagnosis> explain(const Case &c, const Tensors &inputs, const std::string &tensor, int64_t r,
                                   const std::vector<double> &got, const std::vector<double> &want) const override;

private:
  Kind kind;

  template <class Real> Values<Real> evaluate(const Case &c, const Tensors &inputs) const {
    auto [N, C] = extentOf(c);
    auto x = inputs.at("input").as<float>();
    Elements weight(inputs, "weight", 1), bias(inputs, "bias", 0);
    Real eps = Real(epsOf(c));
    std::vector<Real> out(x.size()), mean(static_cast<size_t>(N)), rstd(static_cast<size_t>(N));
    inParallel(N, double(x.size()) * 4, [&, C = C](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        auto row = x.subspan(size_t(r * C), size_t(C));
        Moments<Real> moments = momentsOf<Real>(row, kind, eps);
        mean[r] = moments.mean, rstd[r] = moments.rstd;
        for (int64_t j = 0; j < C; ++j)
          out[r * C + j] = (Real(row[j]) - moments.mean) * moments.rstd * Real(weight[j]) + Real(bias[j]);
      }
    });
    Values<Real> all{{"output", std::move(out)}, {"rstd", std::move(rstd)}};
    if (kind == Kind::Layer)
      all["mean"] = std::move(mean);
    return all;
  }
};

Tensors Normalisation::fill(const Case &c, Random &random) const {
  auto extent = extentOf(c);
  Tensors inputs{{"input", floatsOf({extent.N, extent.C})}};
  fillRows(c.distribution, extent, random, inputs["input"].as<float>());
  for (const char *name : {"weight", "bias"})
    if (has(name, c.options))
      inputs[name] = normalTensor({extent.C}, random);
  if (auto weight = inputs.find("weight"); weight != inputs.end() && c.distribution == "zero-weight")
    std::ranges::fill(weight->second.as<float>(), 0.0f);
  return inputs;
}

/// A row's sum of x and of squared differences from `from`, over the columns that are taken.
double sumOver(const std::vector<double> &x, const std::function<bool(int64_t)> &takes) {
  double sum = 0;
  for (size_t j = 0; j < x.size(); ++j)
    sum += takes(int64_t(j)) ? x[j] : 0;
  return sum;
}
double squaresOver(const std::vector<double> &x, double from, const std::function<bool(int64_t)> &takes) {
  double sum = 0;
  for (size_t j = 0; j < x.size(); ++j)
    sum += takes(int64_t(j)) ? (x[j] - from) * (x[j] - from) : 0;
  return sum;
}

std::vector<Likeness> Normalisation::likenesses(const Case &c, const Tensors &inputs, const std::string &tensor, int64_t r) const {
  std::vector<double> x = rowOf(inputs.at("input"), r, extentOf(c).C);
  auto all = [](int64_t) { return true; };
  bool layer = kind == Kind::Layer;
  double eps = epsOf(c), C = double(x.size()), mean = layer ? sumOver(x, all) / C : 0;
  double variance = squaresOver(x, mean, all) / C, rstd = 1 / std::sqrt(variance + eps);
  Elements weight(inputs, "weight", 1), bias(inputs, "bias", 0);
  std::vector<Likeness> likenesses;
  auto add = [&](const char *phase, const std::string &what, double mean, double rstd, double weightPower = 1, double biases = 1) {
    std::vector<double> value;
    if (tensor == "mean")
      value = {mean};
    else if (tensor == "rstd")
      value = {rstd};
    for (size_t j = 0; tensor == "output" && j < x.size(); ++j)
      value.push_back((x[j] - mean) * rstd * std::pow(weight[int64_t(j)], weightPower) + biases * bias[int64_t(j)]);
    likenesses.push_back({phase, what, std::move(value)});
  };
  if (layer)
    add("mean", "the mean is not taken off", 0, rstd);
  else
    add("mean", "the mean is taken off, as in a layer normalisation", sumOver(x, all) / C,
        1 / std::sqrt(squaresOver(x, sumOver(x, all) / C, all) / C + eps));
  for (const Subset &subset : faultySubsets(int64_t(x.size()))) {
    double part = sumOver(x, subset.takes) / C;
    if (layer) {
      add("mean", "of the columns in the mean " + subset.what, part, 1 / std::sqrt(squaresOver(x, part, all) / C + eps));
      add("mean", "of the columns in mean and variance " + subset.what, part, 1 / std::sqrt(squaresOver(x, part, subset.takes) / C + eps));
    }
    add("variance", "of the columns in the sum of squares " + subset.what, mean, 1 / std::sqrt(squaresOver(x, mean, subset.takes) / C + eps));
  }
  add("variance", "the variance is divided by C - 1", mean, 1 / std::sqrt(variance * C / (C - 1) + eps));
  add("variance", "the sum of squares is not divided by C", mean, 1 / std::sqrt(variance * C + eps));
  add("variance", "eps is not added", mean, 1 / std::sqrt(variance));
  add("variance", "eps is added to the root, not under it", mean, 1 / (std::sqrt(variance) + eps));
  for (const char *other : {"1e-5", "1e-6", "1e-8", "1e-12"})
    if (std::abs(std::stod(other) - eps) > 1e-3 * eps)
      add("variance", fmt::format("eps is {} and not {:g}", other, eps), mean, 1 / std::sqrt(variance + std::stod(other)));
  add("variance", "the root is missing: divided by the variance", mean, 1 / (variance + eps));
  add("variance", "multiplied by the standard deviation, not divided", mean, std::sqrt(variance + eps));
  if (layer)
    add("variance", "the mean square is taken for the variance", mean, 1 / std::sqrt(squaresOver(x, 0, all) / C + eps));
  if (tensor == "rstd")
    add("variance", "this is the variance itself", mean, variance);
  if (inputs.contains("weight")) {
    add("scale", "the weight is missing", mean, rstd, 0);
    add("scale", "the weight is applied twice", mean, rstd, 2);
  }
  if (inputs.contains("bias"))
    add("scale", "the bias is missing", mean, rstd, 1, 0), add("scale", "the bias is taken off, not added", mean, rstd, 1, -1);
  return likenesses;
}

/// What mean and variance the row as written would have: x̂ · weight is fitted to it, with a factor and an offset.
std::optional<Diagnosis> Normalisation::explain(const Case &c, const Tensors &inputs, const std::string &tensor, int64_t r,
                                                const std::vector<double> &got, const std::vector<double> &want) const {
  if (tensor != "output")
    return std::nullopt;
  Moments<double> right = momentsOf<double>(inputs.at("input").as<float>().subspan(size_t(r) * got.size(), got.size()), kind, epsOf(c));
  double variance = 1 / (right.rstd * right.rstd) - epsOf(c);
  std::string squares = kind == Kind::Layer ? fmt::format("; mean² is {:.4g} times the variance, and E[x²] - E[x]² cancels", right.mean * right.mean / variance) : "";
  if (!std::ranges::all_of(got, [](double v) { return std::isfinite(v); }))
    return Diagnosis{"variance", fmt::format("row {} is not finite although its variance is {:.4g}: the root of something negative, or "
                                             "a division by 0{}", r, variance, squares)};
  Elements weight(inputs, "weight", 1), bias(inputs, "bias", 0);
  double ww = 0, wu = 0, uu = 0, wg = 0, ug = 0; // normal equations of got - bias = factor · u + offset · w
  for (size_t j = 0; j < got.size(); ++j) {
    double w = weight[int64_t(j)], b = bias[int64_t(j)], u = want[j] - b;
    ww += w * w, wu += w * u, uu += u * u, wg += w * (got[j] - b), ug += u * (got[j] - b);
  }
  double det = uu * ww - wu * wu;
  if (got.size() < 4 || !(det > 1e-9 * uu * ww))
    return std::nullopt;
  double factor = (ug * ww - wg * wu) / det, offset = (wg * uu - ug * wu) / det;
  std::vector<double> fitted;
  for (size_t j = 0; j < got.size(); ++j) {
    double b = bias[int64_t(j)];
    fitted.push_back(factor * (want[j] - b) + offset * weight[int64_t(j)] + b);
  }
  if (!(distance(got, fitted) * muchNearer < distance(got, want)) || !(factor > 0))
    return std::nullopt;
  double itsMean = right.mean - offset / (factor * right.rstd), itsVariance = 1 / std::pow(factor * right.rstd, 2) - epsOf(c);
  bool isMean = kind == Kind::Layer && std::abs(offset) > std::abs(factor - 1);
  return Diagnosis{isMean ? "mean" : "variance",
                   fmt::format("row {} is right but for its moments: as written, its mean is {:.6g} where {:.6g} is right, its "
                               "variance {:.6g} where {:.6g} is right{}",
                               r, itsMean, right.mean, itsVariance, variance, isMean ? "" : squares)};
}

} // namespace

const Operator &layernorm() {
  static const Normalisation op(Kind::Layer);
  return op;
}

const Operator &rmsnorm() {
  static const Normalisation op(Kind::Rms);
  return op;
}

} // namespace opsight::ops
