// The reference in double precision, written for clarity, and the plain single-precision evaluation that says how well
// conditioned a case is.
#include "operator/attention/attention.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace opsight::ops::attention {
namespace {

template <class Body> void overRows(const Shape &shape, Body body) {
  inParallel(shape.rows(), double(shape.rows()) * double(shape.S) * double(shape.D + shape.Dv), body);
}

/// One row into `out` (Dv wide); returns its log-sum-exp. `weights` is scratch of S.
double attendRow(const Inputs &in, Row row, std::vector<double> &weights, double *out) {
  const Shape &shape = in.shape;
  int64_t kv = shape.kvHead(row.h), seen = shape.visibleKeys(row.i);
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t j = 0; j < seen; ++j) {
    double score = shape.scale * dot(in.q(row.b, row.h, row.i), in.k(row.b, kv, j), shape.D);
    if (in.mask.tensor)
      score += double(in.mask.at(row.b, row.h, row.i, j));
    weights[j] = score;
    largest = std::max(largest, score);
  }
  std::fill_n(out, shape.Dv, 0.0);
  if (std::isinf(largest) && largest < 0)
    return largest;
  double sum = 0;
  for (int64_t j = 0; j < seen; ++j)
    sum += weights[j] = std::exp(weights[j] - largest);
  for (int64_t j = 0; j < seen; ++j) {
    if (weights[j] == 0)
      continue;
    const float *v = in.v(row.b, kv, j);
    for (int64_t d = 0; d < shape.Dv; ++d)
      out[d] += weights[j] * double(v[d]);
  }
  for (int64_t d = 0; d < shape.Dv; ++d)
    out[d] /= sum;
  return largest + std::log(sum);
}

/// The same in float, operations in the order in which one would write them down. The scores of all keys advance side by
/// side, each summed over d in order: `keys` is the head's keys turned over, D rows of S, so that this uses vectors.
void plainRow(const Inputs &in, Row row, Order order, const std::vector<float> &keys, std::vector<float> &weights, float *out) {
  const Shape &shape = in.shape;
  int64_t kv = shape.kvHead(row.h), seen = shape.visibleKeys(row.i);
  float largest = -std::numeric_limits<float>::infinity();
  const float *q = in.q(row.b, row.h, row.i);
  std::fill(weights.begin(), weights.end(), 0.0f);
  for (int64_t n = 0; n < shape.D; ++n)
    for (int64_t j = 0, d = termAt(order, n, shape.D); j < seen; ++j)
      weights[j] += q[d] * keys[d * shape.S + j];
  for (int64_t j = 0; j < seen; ++j) {
    weights[j] *= float(shape.scale);
    if (in.mask.tensor)
      weights[j] += in.mask.at(row.b, row.h, row.i, j);
    largest = std::max(largest, weights[j]);
  }
  std::fill_n(out, shape.Dv, 0.0f);
  if (std::isinf(largest) && largest < 0)
    return;
  float sum = 0;
  for (int64_t n = 0; n < seen; ++n) {
    const int64_t j = termAt(order, n, seen);
    const float *v = in.v(row.b, kv, j);
    sum += weights[j] = std::exp(weights[j] - largest);
    for (int64_t d = 0; d < shape.Dv; ++d)
      out[d] += weights[j] * v[d];
  }
  for (int64_t d = 0; d < shape.Dv; ++d)
    out[d] /= sum;
}

/// `to` becomes D rows of S.
void turnOver(const float *from, int64_t S, int64_t D, std::vector<float> &to) {
  to.resize(S * D);
  for (int64_t j = 0; j < S; ++j)
    for (int64_t d = 0; d < D; ++d)
      to[d * S + j] = from[j * D + d];
}

} // namespace

double dot(const float *a, const float *b, int64_t n) {
#pragma clang fp reassociate(on) // lets the compiler use vectors; double precision has bits to spare
  double sum = 0;
  for (int64_t d = 0; d < n; ++d)
    sum += double(a[d]) * double(b[d]);
  return sum;
}

std::map<std::string, std::vector<double>> reference(const Inputs &in) {
  std::vector<double> output(in.shape.rows() * in.shape.Dv), lse(in.shape.rows());
  overRows(in.shape, [&](int64_t begin, int64_t end) {
    std::vector<double> weights(in.shape.S);
    for (int64_t r = begin; r < end; ++r)
      lse[r] = attendRow(in, rowAt(in.shape, r), weights, &output[r * in.shape.Dv]);
  });
  return {{"output", std::move(output)}, {"lse", std::move(lse)}};
}

PlainErrors plainErrors(const Inputs &in, const std::vector<double> &output, int64_t everyRow, Order order) {
  const Shape &shape = in.shape;
  std::vector<float> plain(output.size());
  overRows(shape, [&](int64_t begin, int64_t end) {
    std::vector<float> weights(shape.S), keys;
    const float *turned = nullptr;
    for (int64_t r = (begin + everyRow - 1) / everyRow * everyRow; r < end; r += everyRow) {
      Row row = rowAt(shape, r);
      const float *head = in.k(row.b, shape.kvHead(row.h), 0);
      if (turned != head || keys.empty()) {
        turned = head;
        turnOver(head, shape.S, shape.D, keys);
      }
      plainRow(in, row, order, keys, weights, &plain[r * shape.Dv]);
    }
  });
  return ops::plainErrors(plain, output, {}, size_t(shape.rows()), size_t(everyRow));
}

} // namespace opsight::ops::attention
