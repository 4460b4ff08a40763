// Root-mean-square normalisation over the rows of a matrix, forward, in float, one thread a block:
//
//   output = x · rstd · weight,   rstd = 1 / √(Σ x² / C + eps)
//
// Launch: grid ceil_div(N, rows), block 1. Macros: AFFINE (0 weight, 1 none), LANES.
#include "../tile/row.h"

#ifndef AFFINE
#define AFFINE 0
#endif

template <int rows>
__global__ void rmsnorm_simd(const float *__restrict__ input,
#if AFFINE == 0
                             const float *__restrict__ weight,
#endif
                             float *__restrict__ output, float *__restrict__ rstd, int N, int C, float eps) {
  const int first = blockIdx.x * rows, end = min(first + rows, N);
#pragma unroll 1
  for (int row = first; row < end; ++row) {
    const float *x = input + (long long)row * C;
    float *y = output + (long long)row * C;
    const float squares = tile::sum_over_row(C, [&](auto piece, int column) {
      const tile::lanes value = piece.load(x + column, 0.0f);
      return value * value;
    });
    const float factor = 1.0f / sqrtf(squares / C + eps);
    rstd[row] = factor;
    tile::over_row<4>(C, [&](auto piece, int, int column) {
      tile::lanes value = piece.load(x + column, 0.0f) * factor;
#if AFFINE == 0
      value *= piece.load(weight + column, 0.0f);
#endif
      piece.store(y + column, value);
    });
  }
}
