#include "operator/matmul/matmul.h"
#include "operator/row_wise.h"
#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace opsight::ops {
namespace {

using Role = TensorInfo::Role;

const std::vector<CaseRow> caseTable{
    {"M=64 N=64 K=64", "normal", "whole tiles: the easy case, kept so that a failure elsewhere can be told apart"},
    {"M=1 N=1 K=1", "normal", "one product"},
    {"M=1 N=1 K=1", "eleven-bits", "N08: 1 + 2^-11, which ten bits of mantissa cannot hold"},
    {"M=17 N=17 K=5", "normal", "N07: no side fits a tile of 16"},
    {"M=17 N=17 K=0", "normal", "N07: no products: zero, or what the epilogue makes of it"},
    {"M=2 N=4 K=3", "integers", "N09: odd sizes, small integers, an exact answer"},
    {"M=31 N=33 K=32", "normal", "one short of and one past a warp"},
    {"M=63 N=65 K=64", "normal", "one short of and one past a tile"},
    {"M=65 N=63 K=64", "normal", "one past and one short of a tile"},
    {"M=64 N=64 K=65", "normal", "a tail of one product"},
    {"M=64 N=64 K=63", "normal", "a tail of all but one product"},
    {"M=129 N=127 K=128", "normal", "one past and one short of two tiles"},
    {"M=101 N=103 K=107", "normal", "three primes"},
    {"M=1 N=257 K=300", "normal", "one row: a vector times a matrix"},
    {"M=257 N=1 K=300", "normal", "one column: a matrix times a vector"},
    {"M=130 N=140 K=1", "normal", "an outer product"},
    {"M=3 N=5 K=4099", "normal", "a long, prime sum"},
    {"M=0 N=8 K=8", "normal", "no rows"},
    {"M=8 N=0 K=8", "normal", "no columns"},
    {"M=96 N=96 K=96", "integers", "an exact answer: which element was read shows"},
    {"M=70 N=50 K=50", "identity", "b is the unit matrix: the answer is a"},
    {"M=33 N=64 K=33", "first-identity", "a is the unit matrix: the answer is b"},
    {"M=80 N=70 K=90", "scaled", "values of 30: gelu's tails"},
    {"M=80 N=70 K=90", "shifted", "operands with a mean: sums that grow"},
    {"M=80 N=70 K=90", "peaked", "one large operand a row"},
    {"M=80 N=70 K=90", "long-tailed", "long tails in both operands"},
    {"M=40 N=48 K=64", "constant", "equal operands"},
    {"M=40 N=48 K=64", "zero", "zeros: the epilogue alone"},
    {"M=200 N=300 K=256", "normal", "many tiles"},
    {"M=2000 N=16 K=16", "row-index", "many rows that differ: which was read shows"},
    {"M=3 N=70000 K=2", "normal", "columns past 65535"},
    {"M=70000 N=2 K=3", "normal", "rows past the 65535 that a grid's y and z hold in CUDA, in tiles of one"},
};

struct Epilogue {
  bool bias, gelu, residual;
};
Epilogue epilogueOf(const Case &c) {
  std::string text = optionOf(c.options, "epilogue");
  auto has = [&](const char *what) { return text.find(what) != std::string::npos; };
  return {has("bias"), has("gelu"), has("residual")};
}

template <class Real> Real gelu(Real x) { return x * (1 + std::erf(x * Real(std::numbers::sqrt2 / 2))) / 2; }
double geluByTanh(double x) { return x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))) / 2; }

struct Sizes {
  int64_t M, N, K;
  bool transposed;
  int64_t rowStride() const { return transposed ? 1 : N; } // of b, from one k to the next
  int64_t columnStride() const { return transposed ? K : 1; }
};
Sizes sizesOf(const Case &c) {
  return {c.symbols.at("M"), c.symbols.at("N"), c.symbols.at("K"), optionOf(c.options, "transpose_b") == "yes"};
}

/// Rows [begin, end) of the products; k runs in order for every element.
template <class Real>
void multiplyRows(const Sizes &s, const float *a, const float *b, Real *out, int64_t begin, int64_t end, int64_t step = 1) {
  std::vector<Real> across(static_cast<size_t>(s.transposed ? s.K * s.N : 0)); // b, turned over
  for (size_t n = 0; n < across.size(); ++n)
    across[n] = Real(b[int64_t(n) / s.N * s.rowStride() + int64_t(n) % s.N * s.columnStride()]);
  for (int64_t i = begin; i < end; i += step)
    for (int64_t k = 0; k < s.K; ++k) {
      Real left = Real(a[i * s.K + k]);
      Real *to = out + i * s.N;
      if (s.transposed)
        for (int64_t j = 0; j < s.N; ++j)
          to[j] += left * across[size_t(k * s.N + j)];
      else
        for (int64_t j = 0; j < s.N; ++j)
          to[j] += left * Real(b[k * s.N + j]);
    }
}

void spreadNormal(std::span<float> values, double factor, Random &random) {
  for (float &x : values)
    x = float(factor * random.normal());
}

class Matmul final : public RowWise {
public:
  Matmul();
  std::optional<double> scalarOf(const Case &, const std::string &name) const override {
    return name == "alpha" ? std::optional(1.0) : name == "beta" ? std::optional(0.0) : std::nullopt;
  }
  bool hearsEveryInput(const Case &c) const override {
    return c.distribution == "normal" && c.symbols.at("M") > 0 && c.symbols.at("N") > 0 && c.symbols.at("K") >= 16;
  }
  Presented present(const Case &c, const Problem &problem, const std::vector<std::string> &) const override {
    Sizes s = sizesOf(c);
    Presented seen{problem.inputs, c.symbols};
    seen.symbols["lda"] = s.K, seen.symbols["ldb"] = s.transposed ? s.K : s.N, seen.symbols["ldc"] = s.N;
    return seen;
  }
  /// The epilogue is not counted.
  Work work(const Case &c) const override {
    Sizes s = sizesOf(c);
    Epilogue epilogue = epilogueOf(c);
    double M = double(s.M), N = double(s.N), K = double(s.K), flops = 2 * M * N * K;
    return {flops, flops, 4 * (M * K + K * N + M * N * (epilogue.residual ? 2 : 1) + (epilogue.bias ? N : 0))};
  }

protected:
  std::string rowSymbol() const override { return "M"; }
  Tensors fill(const Case &c, Random &random) const override;
  Values<double> reference(const Case &c, const Tensors &inputs) const override { return evaluate<double>(c, inputs, 1); }
  Values<float> plain(const Case &c, const Tensors &inputs) const override { return evaluate<float>(c, inputs, plainStep(c)); }
  /// Of large problems every so many rows, a number that shares no factor with usual tiles.
  int64_t plainStep(const Case &c) const override {
    constexpr double plainWork = 1e8;
    return int64_t(work(c).flops / plainWork) | 1;
  }
  std::vector<Likeness> likenesses(const Case &c, const Tensors &inputs, const std::string &tensor, int64_t r) const override;

private:
  template <class Real> Values<Real> evaluate(const Case &c, const Tensors &inputs, int64_t step) const {
    Sizes s = sizesOf(c);
    Epilogue epilogue = epilogueOf(c);
    Elements bias(inputs, "bias"), residual(inputs, "residual");
    std::vector<Real> out(static_cast<size_t>(s.M * s.N));
    const float *a = inputs.at("a").as<float>().data(), *b = inputs.at("b").as<float>().data();
    inParallel(s.M, work(c).flops / double(step), [&](int64_t begin, int64_t end) {
      begin = (begin + step - 1) / step * step;
      multiplyRows<Real>(s, a, b, out.data(), begin, end, step);
      for (int64_t i = begin; i < end; i += step)
        for (int64_t j = 0; j < s.N; ++j) {
          Real &x = out[size_t(i * s.N + j)];
          x += Real(bias[j]);
          x = (epilogue.gelu ? gelu<Real>(x) : x) + Real(residual[i * s.N + j]);
        }
    });
    return {{"output", std::move(out)}};
  }
};

std::vector<TensorInfo> matmulTensors() {
  TensorInfo bias{"bias", {"N"}, Role::Input, true, {"bias"}, ElementType::Float32,
                  TensorInfo::When{"epilogue", {"bias", "bias-gelu", "bias-residual", "bias-gelu-residual"}}};
  TensorInfo residual{"residual", {"M", "N"}, Role::Input, true, {"residual", "res", "skip", "r"}, ElementType::Float32,
                      TensorInfo::When{"epilogue", {"bias-residual", "bias-gelu-residual"}}};
  return {{"a", {"M", "K"}, Role::Input, false, {"a", "x", "inp", "input", "lhs", "left", "mat_a", "matrix_a", "matrixa"}},
          {"b", {"K", "N"}, Role::Input, false, {"b", "w", "weight", "rhs", "right", "mat_b", "matrix_b", "matrixb"}},
          bias,
          residual,
          {"output", {"M", "N"}, Role::Output, false, {"c", "y", "out", "output", "result", "mat_c", "matrix_c", "matrixc"}}};
}

Matmul::Matmul()
    : RowWise({.name = "matmul",
               .summary = "product of two matrices, with bias, exact gelu and residual as the epilogue asks, float",
               .symbols = {{"M", "rows of a and of the output", ""}, {"N", "columns of b and of the output", "M"},
                           {"K", "columns of a, rows of b: products in a sum", "M"}},
               .tensors = matmulTensors(),
               .scalars = {{"M", {"m", "rows", "num_rows", "bt"}},
                           {"N", {"n", "oc", "out_features", "output_size"}},
                           {"K", {"k", "in_features", "input_size", "inner"}},
                           {"alpha", {"alpha"}, ScalarInfo::Kind::Real},
                           {"beta", {"beta"}, ScalarInfo::Kind::Real},
                           {"lda", {"lda", "stride_a"}},
                           {"ldb", {"ldb", "stride_b"}},
                           {"ldc", {"ldc", "stride_c", "ldd"}}},
               .options = {{"transpose_b", {"no", "yes"}, "b lies as (N, K): the rows of a weight are its outputs"},
                           {"epilogue", {"none", "bias", "bias-gelu", "bias-residual", "bias-gelu-residual"},
                            "what is done to the product: bias (N) added, exact gelu taken, residual (M, N) added, in this order"}},
               .sharedSizes = {},
               .cases = caseTable,
               .speedSizes = "M=1024 N=1024 K=1024",
               .distributions = {"normal", "scaled", "shifted", "peaked", "long-tailed", "constant", "integers", "eleven-bits",
                                 "identity", "first-identity", "zero", "row-index"}}) {}

/// b is divided by the root of K, as weights are, so that the answer is about 1 whatever K.
Tensors Matmul::fill(const Case &c, Random &random) const {
  Sizes s = sizesOf(c);
  Tensors inputs{{"a", floatsOf({s.M, s.K})},
                 {"b", s.transposed ? floatsOf({s.N, s.K}) : floatsOf({s.K, s.N})}};
  auto a = inputs["a"].as<float>(), b = inputs["b"].as<float>();
  double root = 1 / std::sqrt(double(std::max<int64_t>(s.K, 1)));
  const std::string &d = c.distribution;
  bool known = s.K > 0 && d != "shifted" && fillRows(d, {s.M, s.K}, random, a);
  if (!known)
    spreadNormal(a, 1, random);
  spreadNormal(b, root, random);
  if (d == "scaled")
    for (float &x : a)
      x /= 8; // of 30
  for (std::span<float> operand : {a, b})
    for (float &x : operand)
      x = d == "shifted"       ? x + 1
          : d == "integers"    ? float(random.below(9) - 4)
          : d == "eleven-bits" ? 1 + float(1 + random.below(2)) * 0x1p-11f
          : d == "zero"        ? 0
                               : x;
  if (d == "identity")
    for (int64_t k = 0; k < s.K; ++k)
      for (int64_t j = 0; j < s.N; ++j)
        b[size_t(k * s.rowStride() + j * s.columnStride())] = k == j;
  if (d == "first-identity")
    for (int64_t i = 0; i < s.M; ++i)
      for (int64_t k = 0; k < s.K; ++k)
        a[size_t(i * s.K + k)] = i == k;
  if (has("bias", c.options))
    inputs["bias"] = normalTensor({s.N}, random);
  if (has("residual", c.options))
    inputs["residual"] = normalTensor({s.M, s.N}, random);
  return inputs;
}

std::vector<Likeness> Matmul::likenesses(const Case &c, const Tensors &inputs, const std::string &, int64_t r) const {
  Sizes s = sizesOf(c);
  Epilogue has = epilogueOf(c);
  Elements a(inputs, "a"), b(inputs, "b"), bias(inputs, "bias"), residual(inputs, "residual");
  std::vector<Likeness> all;
  auto add = [&](const char *phase, const std::string &what, auto value) {
    std::vector<double> row;
    for (int64_t j = 0; j < s.N; ++j)
      row.push_back(value(j));
    all.push_back({phase, what, std::move(row)});
  };
  auto product = [&](auto left, auto takes) {
    std::vector<double> sums(static_cast<size_t>(s.N));
    for (int64_t k = 0; k < s.K; ++k)
      for (int64_t j = 0; takes(k) && j < s.N; ++j)
        sums[size_t(j)] += left(k) * b[k * s.rowStride() + j * s.columnStride()];
    return sums;
  };
  auto act = [&](double x) { return has.gelu ? gelu(x) : x; };
  auto finished = [&](const std::vector<double> &sums) {
    return [&](int64_t j) { return act(sums[size_t(j)] + bias[j]) + residual[r * s.N + j]; };
  };
  auto own = [&](int64_t k) { return a[r * s.K + k]; };
  std::vector<double> right = product(own, [](int64_t) { return true; });
  for (const Subset &subset : faultySubsets(s.K))
    add("sum", "of the products " + subset.what, finished(product(own, subset.takes)));
  for (int64_t tile : {8, 16, 32, 64, 128})
    if (tile < s.K)
      add("sum", fmt::format("only the last {} products, a tile, count", (s.K - 1) % tile + 1),
          finished(product(own, [&](int64_t k) { return k >= (s.K - 1) / tile * tile; })));
  if (s.K == s.N)
    add("indexing", "b is taken as transposed when it is not, or the other way round", [&](int64_t j) {
      double sum = bias[j];
      for (int64_t k = 0; k < s.K; ++k)
        sum += own(k) * b[k * s.columnStride() + j * s.rowStride()];
      return act(sum) + residual[r * s.N + j];
    });
  if (s.K == s.M)
    add("indexing", "a is taken as transposed", finished(product([&](int64_t k) { return a[k * s.K + r]; }, [](int64_t) { return true; })));
  if (has.bias) {
    add("bias", "the bias is missing", [&](int64_t j) { return act(right[size_t(j)]) + residual[r * s.N + j]; });
    if (r < s.N)
      add("bias", "the bias is that of the row, not of the column",
          [&](int64_t j) { return act(right[size_t(j)] + bias[r]) + residual[r * s.N + j]; });
    add("bias", "the bias is added twice", [&](int64_t j) { return act(right[size_t(j)] + 2 * bias[j]) + residual[r * s.N + j]; });
  }
  if (has.gelu) {
    add("activation", "gelu is missing", [&](int64_t j) { return right[size_t(j)] + bias[j] + residual[r * s.N + j]; });
    add("activation", "gelu is the approximation by tanh, not by erf",
        [&](int64_t j) { return geluByTanh(right[size_t(j)] + bias[j]) + residual[r * s.N + j]; });
    add("activation", "gelu comes before the bias", [&](int64_t j) { return gelu(right[size_t(j)]) + bias[j] + residual[r * s.N + j]; });
    add("activation", "relu is taken in place of gelu", [&](int64_t j) { return std::max(0.0, right[size_t(j)] + bias[j]) + residual[r * s.N + j]; });
  }
  if (has.residual) {
    add("residual", "the residual is missing", [&](int64_t j) { return act(right[size_t(j)] + bias[j]); });
    if (has.gelu)
      add("residual", "the residual is added before gelu", [&](int64_t j) { return act(right[size_t(j)] + bias[j] + residual[r * s.N + j]); });
  }
  return all;
}

} // namespace

const Operator &matmul() {
  static const Matmul op;
  return op;
}

} // namespace opsight::ops
