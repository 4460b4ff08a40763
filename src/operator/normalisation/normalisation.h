// layernorm and rmsnorm over the last dimension, forward and backward, in PyTorch's conventions. With x̂ = (x - mean) · rstd,
//
//   layernorm   mean = Σ x / C,  rstd = 1 / √(Σ (x - mean)² / C + eps),  output = x̂ · weight + bias
//   rmsnorm     mean = 0,        rstd = 1 / √(Σ x² / C + eps),           output = x̂ · weight
//   backward    g = grad_output · weight
//               grad_input = rstd · (g - Σ g / C - x̂ · Σ g x̂ / C)        (rmsnorm without the middle term)
//               grad_weight = Σ_rows grad_output · x̂,  grad_bias = Σ_rows grad_output
//
// mean and rstd are outputs forward, and inputs backward.
#pragma once
#include "operator/row_wise.h"

namespace opsight::ops {

const Operator &layernorm();
const Operator &layernormBackward();
const Operator &rmsnorm();
const Operator &rmsnormBackward();

namespace normalisation {

/// Which of the two: whether the mean is taken off.
enum class Kind { Layer, Rms };

/// eps of a case: its own, else that of the option, as the float that a kernel receives.
double epsOf(const Case &c);
OptionInfo epsOption();
/// "weight-bias", "weight" or "none", of which rmsnorm has the last two.
OptionInfo affineOption(Kind kind);
ScalarInfo epsScalar();

std::vector<TensorInfo> forwardTensors(Kind kind);
std::vector<TensorInfo> backwardTensors(Kind kind);

/// What a row is normalised with.
template <class Real> struct Moments {
  Real mean, rstd;
};
template <class Real> Moments<Real> momentsOf(std::span<const float> x, Kind kind, Real eps) {
  Real mean = 0, squares = 0;
  if (kind == Kind::Layer) {
    for (float v : x)
      mean += Real(v);
    mean /= Real(x.size());
  }
  for (float v : x)
    squares += (Real(v) - mean) * (Real(v) - mean);
  return {mean, 1 / std::sqrt(squares / Real(x.size()) + eps)};
}

} // namespace normalisation
} // namespace opsight::ops
