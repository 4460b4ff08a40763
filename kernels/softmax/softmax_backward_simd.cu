// The gradient of softmax from its output, in float, one thread a block:
//
//   grad_input = y · (dy - Σ dy y),   of the logarithm: dy - e^y · Σ dy
//
// The sum brings both rows into the cache, the second pass reads them there.
//
// Launch: grid ceil_div(N, rows), block 1. Macros: LOG (0 softmax, 1 its logarithm), LANES.
#include "../tile/exponential.h"
#include "../tile/row.h"

#ifndef LOG
#define LOG 0
#endif

template <int rows>
__global__ void softmax_backward_simd(const float *__restrict__ output, const float *__restrict__ grad_output,
                                      float *__restrict__ grad_input, int N, int C) {
  const int first = blockIdx.x * rows, end = min(first + rows, N);
#pragma unroll 1
  for (int row = first; row < end; ++row) {
    const float *y = output + (long long)row * C, *dy = grad_output + (long long)row * C;
    float *dx = grad_input + (long long)row * C;
#if LOG
    const float sum = tile::sum_over_row(C, [&](auto piece, int column) { return piece.load(dy + column, 0.0f); });
    tile::over_row<4>(C, [&](auto piece, int, int column) {
      const tile::lanes weight = tile::exponential(piece.load(y + column, 0.0f));
      piece.store(dx + column, piece.load(dy + column, 0.0f) - weight * sum);
    });
#else
    const float sum = tile::sum_over_row(
        C, [&](auto piece, int column) { return piece.load(dy + column, 0.0f) * piece.load(y + column, 0.0f); });
    tile::over_row<4>(C, [&](auto piece, int, int column) {
      piece.store(dx + column, piece.load(y + column, 0.0f) * (piece.load(dy + column, 0.0f) - sum));
    });
#endif
  }
}
