// The gradients of root-mean-square normalisation, in float, one thread a block; ../layernorm/gradient.h tells how.
//
// Launch: grid ceil_div(C, 128) + ceil_div(N, rows), block 1. Macros: AFFINE (0 weight, 1 none), ACCUMULATE (0 no gradient
// is added to what its buffer holds, 1 that of the weight is, 2 both are), LANES.
#include "../layernorm/gradient.h"

#ifndef AFFINE
#define AFFINE 0
#endif
#ifndef ACCUMULATE
#define ACCUMULATE 0
#endif

template <int rows>
__global__ void rmsnorm_backward_simd(const float *__restrict__ grad_output, const float *__restrict__ input,
#if AFFINE == 0
                                      const float *__restrict__ weight,
#endif
                                      const float *__restrict__ rstd, float *__restrict__ grad_input,
                                      float *__restrict__ grad_weight, int N, int C) {
#if AFFINE == 1
  const float *weight = nullptr;
#endif
  const normalisation::operands operands{grad_output, input, weight, nullptr, rstd, N, C};
  normalisation::gradients<false, AFFINE == 0, ACCUMULATE, rows>(grad_input, grad_weight, grad_weight, operands, blockIdx.x);
}
