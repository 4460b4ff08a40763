// The gradients of attention, written as plainly as the formulas: P = softmax of the scores, dP = dO Vᵀ, delta the sum of
// P · dP over a row, dS = P · (dP - delta); then dQ = scale dS K, dK = scale dSᵀ Q, dV = Pᵀ dO. A row that sees no key has no
// gradient, and gives none.
#pragma once
#include "operator/attention/attention.h"

namespace opsight::ops::attention {

/// What the backward pass reads: the forward's inputs and what it left (B,H,L,Dv and B,H,L).
struct BackwardInputs {
  Inputs forward;
  const float *gradOutput = nullptr, *output = nullptr, *lse = nullptr;
};
BackwardInputs backwardInputsOf(const Case &c, const std::map<std::string, Tensor> &tensors);

/// (B,H,L,D), (B,Hkv,S,D), (B,Hkv,S,Dv).
template <class Real> struct Gradients {
  std::vector<Real> query, key, value;
  /// What the elements of each row are summed up from: the root of the squares of their terms, dP and delta apart. What float
  /// rounds grows with these, however much the terms cancel.
  std::vector<double> querySize{}, keySize{}, valueSize{};
  const std::vector<double> &sizeOf(const std::string &tensor) const {
    return tensor == "grad_query" ? querySize : tensor == "grad_key" ? keySize : valueSize;
  }
  const std::vector<Real> &of(const std::string &tensor) const {
    return tensor == "grad_query" ? query : tensor == "grad_key" ? key : value;
  }
};

/// Ways to get them wrong.
enum class BackwardFault { None, NoDelta, NoScale, NoCausal, FirstHeadOnly, LastHeadOnly, NoWeights, LastTileLeftOut };

/// In double precision from the inputs alone; the forward's rounded results are not used.
Gradients<double> gradients(const BackwardInputs &in, BackwardFault fault = BackwardFault::None);
/// In float as one would write it down, from the forward's output and lse, the products' terms in `order`.
Gradients<float> plainGradients(const BackwardInputs &in, Order order = Order::Forwards);

} // namespace opsight::ops::attention
