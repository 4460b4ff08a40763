// The gradients of layer normalisation, in float, one thread a block; gradient.h tells how.
//
// Launch: grid ceil_div(C, 128) + ceil_div(N, rows), block 1. Macros: AFFINE (0 weight and bias, 1 weight, 2 none),
// ACCUMULATE (0 no gradient is added to what its buffer holds, 1 those of weight and bias are, 2 all), LANES.
#include "gradient.h"

#ifndef AFFINE
#define AFFINE 0
#endif
#ifndef ACCUMULATE
#define ACCUMULATE 0
#endif

template <int rows>
__global__ void layernorm_backward_simd(const float *__restrict__ grad_output, const float *__restrict__ input,
#if AFFINE < 2
                                        const float *__restrict__ weight,
#endif
                                        const float *__restrict__ mean, const float *__restrict__ rstd,
                                        float *__restrict__ grad_input, float *__restrict__ grad_weight,
                                        float *__restrict__ grad_bias, int N, int C) {
#if AFFINE == 2
  const float *weight = nullptr;
#endif
  const normalisation::operands operands{grad_output, input, weight, mean, rstd, N, C};
  normalisation::gradients<true, AFFINE < 2, ACCUMULATE, rows>(grad_input, grad_weight, grad_bias, operands, blockIdx.x);
}
