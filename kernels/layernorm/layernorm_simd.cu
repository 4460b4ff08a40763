// Layer normalisation over the rows of a matrix, forward, in float, for cards whose unit is a wide core: one thread a
// block, a block some neighbouring rows, lanes along the row.
//
//   output = (x - mean) · rstd · weight + bias,   mean = Σ x / C,   rstd = 1 / √(Σ (x - mean)² / C + eps)
//
// The mean is taken off before anything is squared, so that no bits are lost where it is much larger than the deviation. Its
// sum is taken a row ahead, while the squares of the row before it are summed, so that memory is read meanwhile; the other
// passes find the row in the cache.
//
// Launch: grid ceil_div(N, rows), block 1. Macros: AFFINE (0 weight and bias, 1 weight, 2 none), LANES.
#include "../tile/row.h"

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
  constexpr int parts = 4;
  const int first = blockIdx.x * rows, end = min(first + rows, N);
  const float *x = input + (long long)first * C;
  float *y = output + (long long)first * C;
  const float count = C;
  float sum = tile::sum_over_row(C, [&](auto piece, int column) { return piece.load(x + column, 0.0f); });
#pragma unroll 1
  for (int row = first; row < end; ++row, x += C, y += C) {
    const float middle = sum / count;
    const float *next_x = row + 1 < end ? x + C : x;
    tile::lanes squares[parts] = {}, next[parts] = {};
    tile::over_row<parts>(C, [&](auto piece, int part, int column) {
      const tile::lanes difference = piece.load(x + column, middle) - middle;
      squares[part] += difference * difference;
      next[part] += piece.load(next_x + column, 0.0f);
    });
    sum = tile::sum_across(tile::pairwise_sum(next));
    const float factor = 1.0f / sqrtf(tile::sum_across(tile::pairwise_sum(squares)) / count + eps);
    mean[row] = middle;
    rstd[row] = factor;
    tile::over_row<parts>(C, [&](auto piece, int, int column) {
      tile::lanes value = (piece.load(x + column, 0.0f) - middle) * factor;
#if AFFINE == 0
      value = __builtin_elementwise_fma(value, piece.load(weight + column, 0.0f), piece.load(bias + column, 0.0f));
#elif AFFINE == 1
      value *= piece.load(weight + column, 0.0f);
#endif
      piece.store(y + column, value);
    });
  }
}
