// matmul: the product of two row-major matrices, and what is usually done to it before it is stored:
//
//   output = residual + gelu(a · b + bias)        a (M,K), b (K,N), or (N,K) where it is transposed; bias (N), residual (M,N)
//
// The option epilogue says which of bias, gelu and residual there are. gelu is the exact one, x · (1 + erf(x/√2)) / 2.
// Where K is 0 the product is 0 (N07); what the output held before is never read.
#pragma once
#include "operator/operator.h"

namespace opsight::ops {

const Operator &matmul();

} // namespace opsight::ops
