// The reference in double precision, written for clarity, and the plain single-precision evaluation that says how well
// conditioned a case is.
#include "operator/attention.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

namespace opsight::ops::attention {
namespace {

/// Rows are independent; fewer than this many multiplications are not worth a thread.
constexpr int64_t smallWork = 1 << 16;

template <class Body> void overRows(const Shape &shape, Body body) {
  int64_t rows = shape.rows(), work = rows * shape.S * (shape.D + shape.Dv);
  int64_t threads = work < smallWork ? 1 : std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, rows);
  std::vector<std::jthread> pool;
  for (int64_t t = 1; t < threads; ++t)
    pool.emplace_back(body, rows * t / threads, rows * (t + 1) / threads);
  body(0, rows / threads);
}

double dot(const float *a, const float *b, int64_t n) {
#pragma clang fp reassociate(on) // lets the compiler use vectors; double precision has bits to spare
  double sum = 0;
  for (int64_t d = 0; d < n; ++d)
    sum += double(a[d]) * double(b[d]);
  return sum;
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

/// The same in float, operations in the order in which one would write them down.
void plainRow(const Inputs &in, Row row, std::vector<float> &weights, float *out) {
  const Shape &shape = in.shape;
  int64_t kv = shape.kvHead(row.h), seen = shape.visibleKeys(row.i);
  float largest = -std::numeric_limits<float>::infinity();
  const float *q = in.q(row.b, row.h, row.i);
  for (int64_t j = 0; j < seen; ++j) {
    const float *k = in.k(row.b, kv, j);
    float score = 0;
    for (int64_t d = 0; d < shape.D; ++d)
      score += q[d] * k[d];
    score *= float(shape.scale);
    if (in.mask.tensor)
      score += in.mask.at(row.b, row.h, row.i, j);
    weights[j] = score;
    largest = std::max(largest, score);
  }
  std::fill_n(out, shape.Dv, 0.0f);
  if (std::isinf(largest) && largest < 0)
    return;
  float sum = 0;
  for (int64_t j = 0; j < seen; ++j)
    sum += weights[j] = std::exp(weights[j] - largest);
  for (int64_t j = 0; j < seen; ++j) {
    const float *v = in.v(row.b, kv, j);
    for (int64_t d = 0; d < shape.Dv; ++d)
      out[d] += weights[j] * v[d];
  }
  for (int64_t d = 0; d < shape.Dv; ++d)
    out[d] /= sum;
}

} // namespace

std::map<std::string, std::vector<double>> reference(const Inputs &in) {
  std::vector<double> output(in.shape.rows() * in.shape.Dv), lse(in.shape.rows());
  overRows(in.shape, [&](int64_t begin, int64_t end) {
    std::vector<double> weights(in.shape.S);
    for (int64_t r = begin; r < end; ++r)
      lse[r] = attendRow(in, rowAt(in.shape, r), weights, &output[r * in.shape.Dv]);
  });
  return {{"output", std::move(output)}, {"lse", std::move(lse)}};
}

PlainErrors plainErrors(const Inputs &in, const std::vector<double> &output) {
  std::vector<float> plain(output.size());
  overRows(in.shape, [&](int64_t begin, int64_t end) {
    std::vector<float> weights(in.shape.S);
    for (int64_t r = begin; r < end; ++r)
      plainRow(in, rowAt(in.shape, r), weights, &plain[r * in.shape.Dv]);
  });
  PlainErrors errors;
  for (size_t n = 0; n < output.size(); ++n) {
    double error = std::abs(double(plain[n]) - output[n]) / std::max(1.0, std::abs(output[n]));
    errors.largest = std::max(errors.largest, error);
    errors.rms += error * error;
  }
  errors.rms = output.empty() ? 0 : std::sqrt(errors.rms / double(output.size()));
  return errors;
}

} // namespace opsight::ops::attention
