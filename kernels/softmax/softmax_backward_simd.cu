// The gradient of softmax from its output, in float, one thread a block:
//
//   grad_input = y · (dy - Σ dy y),   of the logarithm: dy - e^y · Σ dy
//
// The sum is taken a row ahead, while the row before it is written, so that memory is read meanwhile; what is written finds
// its operands in the cache.
//
// Launch: grid ceil_div(N, rows), block 1. Macros: LOG (0 softmax, 1 its logarithm), LANES.
#include "../tile/exponential.h"
#include "../tile/row.h"

#ifndef LOG
#define LOG 0
#endif

constexpr int parts = 4;

/// A register's part in the sum.
template <class piece_type>
__device__ __forceinline__ tile::lanes term(const piece_type &piece, const float *y, const float *dy) {
#if LOG
  return piece.load(dy, 0.0f);
#else
  return piece.load(dy, 0.0f) * piece.load(y, 0.0f);
#endif
}

template <int rows>
__global__ void softmax_backward_simd(const float *__restrict__ output, const float *__restrict__ grad_output,
                                      float *__restrict__ grad_input, int N, int C) {
  const int first = blockIdx.x * rows, end = min(first + rows, N);
  const float *y = output + (long long)first * C, *dy = grad_output + (long long)first * C;
  float *dx = grad_input + (long long)first * C;
  float sum = tile::sum_over_row(C, [&](auto piece, int column) { return term(piece, y + column, dy + column); });
#pragma unroll 1
  for (int row = first; row < end; ++row, y += C, dy += C, dx += C) {
    const int ahead = row + 1 < end ? C : 0;
    tile::lanes next[parts] = {};
    tile::over_row<parts>(C, [&](auto piece, int part, int column) {
      next[part] += term(piece, y + ahead + column, dy + ahead + column);
#if LOG
      const tile::lanes weight = tile::exponential(piece.load(y + column, 0.0f));
      piece.store(dx + column, piece.load(dy + column, 0.0f) - weight * sum);
#else
      piece.store(dx + column, piece.load(y + column, 0.0f) * (piece.load(dy + column, 0.0f) - sum));
#endif
    });
    sum = tile::sum_across(tile::pairwise_sum(next));
  }
}
