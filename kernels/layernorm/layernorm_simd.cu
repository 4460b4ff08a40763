// Layer normalisation over the rows of a matrix, forward, in float, for cards whose unit is a wide core: one thread a
// block, a block some neighbouring rows, lanes along the row.
//
//   output = (x - mean) · rstd · weight + bias,   mean = Σ x / C,   rstd = 1 / √(Σ (x - mean)² / C + eps)
//
// The first of three passes brings the row into the cache; the others read it there.
//
// Launch: grid ceil_div(N, rows), block 1. Macros: AFFINE (0 weight and bias, 1 weight, 2 none), LANES.
#include "moments.h"

#ifndef AFFINE
#define AFFINE 0
#endif

template <int rows>
__global__ void layernorm_simd(const float *__restrict__ input,
#if AFFINE < 2
                               const float *__restrict__ weight,
#endif
#if AFFINE == 0
                               const float *__restrict__ bias,
#endif
                               float *__restrict__ output, float *__restrict__ mean, float *__restrict__ rstd, int N, int C,
                               float eps) {
  const int first = blockIdx.x * rows, end = min(first + rows, N);
#pragma unroll 1
  for (int row = first; row < end; ++row) {
    const float *x = input + (long long)row * C;
    float *y = output + (long long)row * C;
    const normalisation::moments moments = normalisation::moments_of<true>(x, C, eps);
    mean[row] = moments.mean;
    rstd[row] = moments.rstd;
    tile::over_row<4>(C, [&](auto piece, int, int column) {
      tile::lanes value = (piece.load(x + column, 0.0f) - moments.mean) * moments.rstd;
#if AFFINE == 0
      value = __builtin_elementwise_fma(value, piece.load(weight + column, 0.0f), piece.load(bias + column, 0.0f));
#elif AFFINE == 1
      value *= piece.load(weight + column, 0.0f);
#endif
      piece.store(y + column, value);
    });
  }
}
