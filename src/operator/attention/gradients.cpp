#include "operator/attention/gradients.h"
#include <cmath>
#include <limits>

namespace opsight::ops::attention {

BackwardInputs backwardInputsOf(const Case &c, const std::map<std::string, Tensor> &tensors) {
  auto at = [&](const char *name) { return tensors.at(name).as<float>().data(); };
  return {inputsOf(c, tensors), at("grad_output"), at("output"), at("lse")};
}

namespace {

/// Of keys: a kernel that forgets its partial last tile forgets what lies behind a multiple.
constexpr int64_t usualTile = 64;

float dotInOrder(const float *a, const float *b, int64_t n, Order order) {
  float sum = 0;
  for (int64_t d = 0; d < n; ++d)
    sum += a[termAt(order, d, n)] * b[termAt(order, d, n)];
  return sum;
}

/// Where one key has all the weight, dP and delta are the same sum and cancel. A kernel that sums the two in different orders,
/// as most do, is left with what float rounds, and so is what tells how well float can do.
constexpr Order otherThan(Order order) { return order == Order::Backwards ? Order::Forwards : Order::Backwards; }

double meanSquare(const float *a, int64_t n) { return n ? dot(a, a, n) / double(n) : 0; }

template <class Real> void addScaled(Real *to, Real factor, const float *from, int64_t n) {
  for (int64_t d = 0; d < n; ++d)
    to[d] += factor * Real(from[d]);
}

/// One row's weights and the gradients of its scores, over the keys that it sees.
template <class Real> class RowGradients {
public:
  RowGradients(const BackwardInputs &in, BackwardFault fault, Order order)
      : weights(size_t(in.forward.shape.S)), scores(size_t(in.forward.shape.S)), sizes(size_t(in.forward.shape.S)),
        in(in), fault(fault), order(order) {}
  RowGradients(const RowGradients &) = delete;

  /// How many keys count; 0 where the row sees none.
  int64_t evaluate(Row row) {
    const Shape &shape = in.forward.shape;
    const int64_t kv = shape.kvHead(row.h), flat = (row.b * shape.H + row.h) * shape.L + row.i;
    seen = fault == BackwardFault::NoCausal ? shape.S : shape.visibleKeys(row.i);
    Real largest = -std::numeric_limits<Real>::infinity();
    for (int64_t j = 0; j < seen; ++j) {
      weights[j] = Real(shape.scale) * product(in.forward.q(row.b, row.h, row.i), in.forward.k(row.b, kv, j), shape.D);
      if (in.forward.mask.tensor)
        weights[j] += Real(in.forward.mask.at(row.b, row.h, row.i, j));
      largest = std::max(largest, weights[j]);
    }
    if (!seen || (std::isinf(largest) && largest < 0))
      return 0;
    weigh(largest, in.lse[flat]);
    const float *gradient = in.gradOutput + flat * shape.Dv;
    // dP may be small by chance, but the terms that it is summed up from are not.
    const double rounding = std::sqrt(meanSquare(gradient, shape.Dv) * valueSize * double(shape.Dv));
    Real delta = 0;
    for (int64_t j = 0; j < seen; ++j) {
      scores[j] = product(gradient, in.forward.v(row.b, kv, j), shape.Dv);
      delta += weights[j] * scores[j];
    }
    if constexpr (std::is_same_v<Real, float>)
      delta = dotInOrder(gradient, in.output + flat * shape.Dv, shape.Dv, otherThan(order));
    if (fault == BackwardFault::NoDelta)
      delta = 0;
    for (int64_t j = 0; j < seen; ++j)
      sizes[j] = std::abs(shape.scale) * double(weights[j]) *
                 (std::abs(double(scores[j])) + std::abs(double(delta)) + rounding);
    const Real scale = fault == BackwardFault::NoScale ? 1 : Real(shape.scale);
    for (int64_t j = 0; j < seen; ++j)
      scores[j] = (fault == BackwardFault::NoWeights ? 1 : weights[j]) * (scores[j] - delta) * scale;
    return fault == BackwardFault::LastTileLeftOut ? seen / usualTile * usualTile : seen;
  }
  double valueSize = 0;              // mean square of an element, of the head's rows of V together
  std::vector<Real> weights, scores; // P; scale · dS
  std::vector<double> sizes;         // of the terms of the latter

private:
  /// Double precision sums up itself; float takes the forward's log-sum-exp, as kernels do.
  void weigh(Real largest, float lse);

  const BackwardInputs &in;
  BackwardFault fault;
  Order order;
  int64_t seen = 0;

  Real product(const float *a, const float *b, int64_t n) const {
    if constexpr (std::is_same_v<Real, float>)
      return dotInOrder(a, b, n, order);
    else
      return dot(a, b, n);
  }
};

template <> void RowGradients<double>::weigh(double largest, float) {
  double sum = 0;
  for (int64_t j = 0; j < seen; ++j)
    sum += weights[j] = std::exp(weights[j] - largest);
  for (int64_t j = 0; j < seen; ++j)
    weights[j] /= sum;
}

template <> void RowGradients<float>::weigh(float, float lse) {
  for (int64_t j = 0; j < seen; ++j)
    weights[j] = std::exp(weights[j] - lse);
}

/// All rows that share one key-value head, in order: what they add to its keys and values is added by one thread.
template <class Real>
void addHead(const BackwardInputs &in, BackwardFault fault, Order order, int64_t b, int64_t kv, Gradients<Real> &into) {
  const Shape &shape = in.forward.shape;
  const int64_t group = shape.H / shape.Hkv;
  RowGradients<Real> row(in, fault, order);
  std::vector<double> keyLengths(size_t(shape.S)); // mean square of an element
  for (int64_t j = 0; j < shape.S; ++j)
    keyLengths[j] = meanSquare(in.forward.k(b, kv, j), shape.D);
  row.valueSize = meanSquare(in.forward.v(b, kv, 0), shape.S * shape.Dv);
  for (int64_t h = kv * group; h < (kv + 1) * group; ++h) {
    const bool counts = !(fault == BackwardFault::FirstHeadOnly && h != kv * group) &&
                        !(fault == BackwardFault::LastHeadOnly && h != (kv + 1) * group - 1);
    for (int64_t i = 0; i < shape.L; ++i) {
      const int64_t flat = (b * shape.H + h) * shape.L + i, seen = row.evaluate({b, h, i});
      const double queryLength = meanSquare(in.forward.q(b, h, i), shape.D),
                   gradientLength = meanSquare(in.gradOutput + flat * shape.Dv, shape.Dv);
      for (int64_t j = 0; j < seen; ++j) {
        const int64_t at = (b * shape.Hkv + kv) * shape.S + j;
        addScaled(&into.query[flat * shape.D], row.scores[j], in.forward.k(b, kv, j), shape.D);
        const double square = row.sizes[j] * row.sizes[j];
        into.querySize[flat] += square * keyLengths[j];
        into.keySize[at] += square * queryLength;
        into.valueSize[at] += double(row.weights[j]) * double(row.weights[j]) * gradientLength;
        if (!counts)
          continue;
        addScaled(&into.key[at * shape.D], row.scores[j], in.forward.q(b, h, i), shape.D);
        addScaled(&into.value[at * shape.Dv], row.weights[j], in.gradOutput + flat * shape.Dv, shape.Dv);
      }
    }
  }
}

template <class Real> Gradients<Real> evaluate(const BackwardInputs &in, BackwardFault fault, Order order) {
  const Shape &shape = in.forward.shape;
  const int64_t keys = shape.B * shape.Hkv * shape.S;
  Gradients<Real> into{std::vector<Real>(size_t(shape.rows() * shape.D)),
                       std::vector<Real>(size_t(keys * shape.D)),
                       std::vector<Real>(size_t(keys * shape.Dv)),
                       std::vector<double>(size_t(shape.rows())),
                       std::vector<double>(size_t(keys)),
                       std::vector<double>(size_t(keys))};
  const double operations = double(shape.rows()) * double(shape.S) * double(shape.D + shape.Dv);
  inParallel(shape.B * shape.Hkv, operations, [&](int64_t begin, int64_t end) {
    for (int64_t head = begin; head < end; ++head)
      addHead(in, fault, order, head / shape.Hkv, head % shape.Hkv, into);
  });
  // Where nothing is summed the answer is 0, and anything else is wrong by more than any bar.
  constexpr double nothing = 1e-20;
  for (std::vector<double> *sizes : {&into.querySize, &into.keySize, &into.valueSize})
    for (double &size : *sizes)
      size = std::max(std::sqrt(size), nothing);
  return into;
}

} // namespace

Gradients<double> gradients(const BackwardInputs &in, BackwardFault fault) {
  return evaluate<double>(in, fault, Order::Forwards);
}
Gradients<float> plainGradients(const BackwardInputs &in, Order order) {
  return evaluate<float>(in, BackwardFault::None, order);
}

} // namespace opsight::ops::attention
