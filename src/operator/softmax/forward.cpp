#include "operator/softmax/softmax.h"
#include <cmath>
#include <fmt/format.h>

namespace opsight::ops {
namespace softmaxes {

bool isLog(const Case &c) { return optionOf(c.options, "log") == "yes"; }

} // namespace softmaxes

namespace {
using namespace softmaxes;

const std::vector<CaseRow> caseTable{
    {"N=64 C=128", "normal", "whole warps: the easy case, kept so that a failure elsewhere can be told apart"},
    {"N=1 C=1", "normal", "one column: the answer is 1"},
    {"N=5 C=2", "normal", "two columns"},
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
    {"N=2 C=65537", "normal", "one past 65536: the sum of very many small terms"},
    {"N=65537 C=3", "normal", "rows past the 65535 that a grid's y and z hold in CUDA"},
    {"N=0 C=8", "normal", "no rows: an empty output"},
    {"N=1 C=1000", "normal", "a single row"},
    {"N=40 C=300", "scaled", "values of 30 and more: exp overflows on some rows unless the maximum is taken off"},
    {"N=40 C=300", "shifted", "N03: 10000 added to all, which changes nothing"},
    {"N=40 C=300", "peaked", "nearly all weight on one column"},
    {"N=40 C=96", "constant", "equal values: every answer is 1/C"},
    {"N=3 C=512", "low-constant", "N03: -1000 everywhere, every answer is 1/512"},
    {"N=40 C=3", "far-apart", "N03: 378 and -424 in one row: one, zero, zero"},
    {"N=40 C=301", "far-apart", "N03: the same over many columns"},
    {"N=7 C=32", "all-negative", "N05: -100 … -69: a maximum that starts at 0 leaves no sum"},
    {"N=7 C=500", "all-negative", "N05: the same over many columns"},
    {"N=5 C=2000", "rising", "the maximum moves on with every column: older sums must be rescaled"},
    {"N=5 C=2000", "falling", "the first column has the maximum: later ones must keep it"},
    {"N=9 C=1000", "late-maximum", "the maximum alone in the last column"},
    {"N=9 C=2049", "late-large", "120 in the last column, alone past every block: exp overflows unless it is looked at"},
    {"N=9 C=1000", "early-maximum", "the maximum alone in the first column"},
    {"N=10 C=100", "minus-infinity", "N04: rows of minus infinity are NaN, single ones weigh nothing"},
    {"N=6 C=300", "masked-beginning", "rows that begin with minus infinities: a running maximum that is not finite yet"},
    {"N=8 C=100", "not-a-number", "N04: one NaN makes its whole row NaN, and no other"},
    {"N=1030 C=40", "row-index", "rows that differ: which row was read shows"},
    {"N=300 C=768", "outliers", "single outliers"},
};

class Softmax final : public RowWise {
public:
  Softmax()
      : RowWise(onRows({.name = "softmax",
                        .summary = "softmax over the last dimension, forward, float",
                        .tensors = {{"input", {"N", "C"}, TensorInfo::Role::Input, false,
                                     {"x", "inp", "input", "in", "src", "scores", "logits", "a", "input_ptr"}},
                                    {"output", {"N", "C"}, TensorInfo::Role::Output, false,
                                     {"y", "out", "output", "outp", "dst", "probs", "result", "o", "output_ptr"}}},
                        .options = {{"log", {"no", "yes"}, "the logarithm of the softmax"}},
                        .cases = caseTable})) {}

  Work work(const Case &c) const override {
    auto [N, C] = extentOf(c);
    double elements = double(N) * double(C);
    return {flopsForward * elements, elements, 8 * elements};
  }

protected:
  Tensors fill(const Case &c, Random &random) const override {
    auto extent = extentOf(c);
    Tensors inputs{{"input", floatsOf({extent.N, extent.C})}};
    fillRows(c.distribution, extent, random, inputs["input"].as<float>());
    return inputs;
  }
  Values<double> reference(const Case &c, const Tensors &inputs) const override { return evaluate<double>(c, inputs); }
  Values<float> plain(const Case &c, const Tensors &inputs) const override { return evaluate<float>(c, inputs); }
  Values<double> magnitudes(const Case &c, const Tensors &inputs) const override;
  std::vector<Likeness> likenesses(const Case &c, const Tensors &inputs, const std::string &tensor, int64_t r) const override;
  std::optional<Diagnosis> explain(const Case &c, const Tensors &inputs, const std::string &tensor, int64_t r,
                                   const std::vector<double> &got, const std::vector<double> &want) const override;

private:
  template <class Real> Values<Real> evaluate(const Case &c, const Tensors &inputs) const {
    auto [N, C] = extentOf(c);
    auto x = inputs.at("input").as<float>();
    std::vector<Real> out(x.size());
    inParallel(N, double(x.size()) * 16, [&, C = C](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        forwardRow<Real>(x.subspan(size_t(r * C), size_t(C)), isLog(c), out.data() + r * C);
    });
    return {{"output", std::move(out)}};
  }
};

/// A softmax of many columns has small answers: errors are held against the largest of the row.
Values<double> Softmax::magnitudes(const Case &c, const Tensors &inputs) const {
  if (isLog(c))
    return {};
  auto [N, C] = extentOf(c);
  std::vector<double> out = evaluate<double>(c, inputs).at("output"), largest(static_cast<size_t>(N), 1.0);
  for (int64_t r = 0; r < N; ++r)
    if (double row = *std::max_element(out.begin() + r * C, out.begin() + (r + 1) * C); row > 0)
      largest[size_t(r)] = row;
  return {{"output", std::move(largest)}};
}

double largestOf(const std::vector<double> &x) { return *std::ranges::max_element(x); }

/// The row with its exponentials divided by sumOf(column), or its logarithm taken off.
template <class Sum> std::vector<double> divided(const std::vector<double> &x, bool log, Sum sumOf) {
  double largest = largestOf(x);
  std::vector<double> y;
  for (size_t j = 0; j < x.size(); ++j)
    y.push_back(log ? x[j] - largest - std::log(sumOf(j)) : std::exp(x[j] - largest) / sumOf(j));
  return y;
}

template <class Takes> double sumOver(const std::vector<double> &x, Takes takes) {
  double largest = largestOf(x), sum = 0;
  for (size_t j = 0; j < x.size(); ++j)
    sum += takes(int64_t(j)) ? std::exp(x[j] - largest) : 0;
  return sum;
}

/// The online sum in which `lanes` neighbours stride over the row (1: one after another), older sums left as they are
/// when the maximum grows, or the partial sums of the lanes added as if all had the same maximum.
double unscaledSum(const std::vector<double> &x, int64_t lanes, bool keepsOlder) {
  double all = 0, largest = largestOf(x);
  for (int64_t lane = 0; lane < std::min<int64_t>(lanes, int64_t(x.size())); ++lane) {
    double maximum = -INFINITY, sum = 0;
    for (size_t j = size_t(lane); j < x.size(); j += size_t(lanes)) {
      double larger = std::max(maximum, x[j]);
      sum = (keepsOlder || sum == 0 ? sum : sum * std::exp(maximum - larger)) + std::exp(x[j] - larger);
      maximum = larger;
    }
    all += keepsOlder ? sum * std::exp(maximum - largest) : sum;
  }
  return all;
}

std::vector<Likeness> Softmax::likenesses(const Case &c, const Tensors &inputs, const std::string &, int64_t r) const {
  bool log = isLog(c);
  std::vector<double> x = rowOf(inputs.at("input"), r, extentOf(c).C);
  double largest = largestOf(x), sum = sumOver(x, [](int64_t) { return true; });
  std::vector<Likeness> all;
  auto add = [&](const char *phase, const std::string &what, auto value) {
    std::vector<double> y;
    for (size_t j = 0; j < x.size(); ++j)
      y.push_back(value(j));
    all.push_back({phase, what, std::move(y)});
  };
  auto divide = [&](const char *phase, const std::string &what, double by) {
    all.push_back({phase, what, divided(x, log, [by](size_t) { return by; })});
  };
  for (const Subset &subset : faultySubsets(int64_t(x.size())))
    divide("sum", "of the columns in the sum " + subset.what, sumOver(x, subset.takes));
  for (int64_t lanes : {1, 32, 64, 128, 256, 512, 1024}) {
    divide("sum", fmt::format("the sum so far of {} is not rescaled when the maximum grows", lanes == 1 ? "the row" : fmt::format("each of {} threads", lanes)),
           unscaledSum(x, lanes, true));
    if (lanes > 1)
      divide("sum", fmt::format("the sums of {} threads are added although each was taken against a maximum of its own", lanes),
             unscaledSum(x, lanes, false));
  }
  for (int64_t threads : blockSizes) {
    std::vector<double> sums(size_t(threads / 32));
    for (size_t j = 0; j < x.size(); ++j)
      sums[j % size_t(threads) / 32] += std::exp(x[j] - largest);
    all.push_back({"sum", fmt::format("each warp of {} threads divides by its own part of the sum", threads),
                   divided(x, log, [&](size_t j) { return sums[j % size_t(threads) / 32]; })});
  }
  double half = 0; // of powers of two
  for (double v : x)
    half += std::exp2(v - largest);
  if (log) {
    add("sum", "the logarithm of the sum is not taken off", [&](size_t j) { return x[j] - largest; });
    add("maximum", "the maximum is not taken off beside the logarithm of the sum", [&](size_t j) { return x[j] - std::log(sum); });
    add("scale", "the logarithm is to base 2", [&](size_t j) { return x[j] - largest - std::log2(sum); });
    add("scale", "this is the softmax, not its logarithm", [&](size_t j) { return std::exp(x[j] - largest) / sum; });
  } else {
    add("scale", "the division by the sum is missing", [&](size_t j) { return std::exp(x[j] - largest); });
    add("scale", "the exponential is to base 2", [&](size_t j) { return std::exp2(x[j] - largest) / half; });
    add("scale", "this is the logarithm of the softmax", [&](size_t j) { return x[j] - largest - std::log(sum); });
    add("scale", "every element is 1/C, as if there were no exponential", [&](size_t) { return 1 / double(x.size()); });
  }
  return all;
}

std::optional<Diagnosis> Softmax::explain(const Case &c, const Tensors &inputs, const std::string &, int64_t r,
                                          const std::vector<double> &got, const std::vector<double> &want) const {
  auto finite = [](double v) { return std::isfinite(v); };
  std::vector<double> x = rowOf(inputs.at("input"), r, extentOf(c).C);
  if (std::isnan(want.front()))
    return Diagnosis{"exponentials", fmt::format("row {} {}, so it is NaN throughout; the kernel wrote numbers", r,
                                                 std::ranges::any_of(x, [](double v) { return std::isnan(v); })
                                                     ? "holds a NaN"
                                                     : "is minus infinity everywhere")};
  if (std::ranges::all_of(got, finite) && std::ranges::any_of(got, [](double v) { return v != 0; }))
    return std::nullopt;
  double largest = largestOf(x);
  if (largest > 88)
    return Diagnosis{"maximum", fmt::format("values of row {} reach {:.1f}; exp overflows in float past 88.7, so the row's own "
                                            "maximum was not taken off", r, largest)};
  if (largest < -87)
    return Diagnosis{"maximum", fmt::format("all values of row {} lie below {:.1f}; without the row's own maximum every "
                                            "exponential is 0 and the sum with them", r, largest)};
  if (std::isinf(x.front()))
    return Diagnosis{"maximum", fmt::format("row {} begins with minus infinity: while nothing else was seen the maximum is minus "
                                            "infinity, and the difference of two such is NaN", r)};
  return Diagnosis{"sum", fmt::format("row {} is not finite, or zero, although its values reach only {:.2f}; something that was "
                                      "summed was never written, or lies past the end", r, largest)};
}

} // namespace

const Operator &softmax() {
  static const Softmax op;
  return op;
}

} // namespace opsight::ops
