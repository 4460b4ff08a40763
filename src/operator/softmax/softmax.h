// softmax over the last dimension, and log-softmax; forward and backward, in PyTorch's conventions:
//
//   output_j = e^(x_j - max x) / Σ_k e^(x_k - max x)           log: output_j = x_j - max x - log Σ_k e^(x_k - max x)
//   grad_input_j = y_j · (dy_j - Σ_k dy_k · y_k)               log: grad_input_j = dy_j - e^(y_j) · Σ_k dy_k
//
// A row of minus infinities, and one that holds a NaN, is NaN throughout (N04); attention's rows that see nothing are
// another matter.
#pragma once
#include "operator/row_wise.h"

namespace opsight::ops {

const Operator &softmax();
const Operator &softmaxBackward();

namespace softmaxes {

bool isLog(const Case &c);

/// Row by row into `out`; `Real` is the precision in which everything is computed.
template <class Real> void forwardRow(std::span<const float> x, bool log, Real *out) {
  Real largest = -std::numeric_limits<Real>::infinity(), sum = 0;
  for (float v : x)
    largest = std::max(largest, Real(v));
  for (size_t j = 0; j < x.size(); ++j)
    sum += out[j] = std::exp(Real(x[j]) - largest);
  for (size_t j = 0; j < x.size(); ++j)
    out[j] = log ? Real(x[j]) - largest - std::log(sum) : out[j] / sum;
}

/// Operations a row of C columns is counted as: maximum, difference, exponential, sum, division.
constexpr double flopsForward = 5, flopsBackward = 4;

} // namespace softmaxes
} // namespace opsight::ops
