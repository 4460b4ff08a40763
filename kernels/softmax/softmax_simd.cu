// softmax over the rows of a matrix, forward, in float, for cards whose unit is a wide core: one thread a block, a block
// some neighbouring rows, lanes along the row.
//
//   output = e^(x - max x) / Σ e^(x - max x),   or its logarithm
//
// Three passes over a row: its maximum, the exponentials and their sum, the division. The maximum is taken a row ahead, while
// the exponentials of the row before it are computed, so that memory is read meanwhile; the others find the row in the cache.
// A row of minus infinities and one with a NaN come out as NaN, as the formula has it.
//
// Launch: grid ceil_div(N, rows), block 1. Macros: LOG (0 softmax, 1 its logarithm), LANES. softmax_simd.toml says it to
// the tool.
#include "../tile/exponential.h"
#include "../tile/row.h"

#ifndef LOG
#define LOG 0
#endif

constexpr int parts = 4;
constexpr float nothing = -__builtin_inff();

/// Partial maxima of a row.
struct maxima {
  tile::lanes at[parts];
  template <class piece_type> __device__ __forceinline__ void take(const piece_type &piece, int part, const float *x) {
    at[part] = tile::larger(at[part], piece.load(x, nothing));
  }
  /// The maximum; what follows begins anew.
  __device__ __forceinline__ float finish() {
    const tile::lanes all = tile::larger(tile::larger(at[0], at[1]), tile::larger(at[2], at[3]));
    at[0] = at[1] = at[2] = at[3] = tile::splat(nothing);
    return tile::largest_across(all);
  }
};

/// One row, whose maximum is known; `largest` takes in the row at `next`.
__device__ __forceinline__ void softmax_row(const float *__restrict__ x, float *__restrict__ y, int columns, float maximum,
                                            const float *__restrict__ next, maxima &largest) {
  tile::lanes sums[parts] = {};
  tile::over_row<parts>(columns, [&](auto piece, int part, int column) {
    const tile::lanes weight = tile::exponential(piece.load(x + column, nothing) - maximum);
    sums[part] += weight;
    largest.take(piece, part, next + column);
#if !LOG
    piece.store(y + column, weight);
#endif
  });
  const float sum = tile::sum_across(tile::pairwise_sum(sums));
#if LOG
  const float logarithm = logf(sum);
  tile::over_row<parts>(columns, [&](auto piece, int, int column) {
    piece.store(y + column, piece.load(x + column, 0.0f) - maximum - logarithm);
  });
#else
  const float inverse = 1.0f / sum;
  tile::over_row<parts>(columns, [&](auto piece, int, int column) {
    piece.store(y + column, piece.load(y + column, 0.0f) * inverse);
  });
#endif
}

template <int rows>
__global__ void softmax_simd(const float *__restrict__ input, float *__restrict__ output, int N, int C) {
  const int first = blockIdx.x * rows, end = min(first + rows, N);
  const float *x = input + (long long)first * C;
  float *y = output + (long long)first * C;
  maxima largest = {{tile::splat(nothing), tile::splat(nothing), tile::splat(nothing), tile::splat(nothing)}};
  tile::over_row<parts>(C, [&](auto piece, int part, int column) { largest.take(piece, part, x + column); });
#pragma unroll 1
  for (int row = first; row < end; ++row, x += C, y += C)
    softmax_row(x, y, C, largest.finish(), row + 1 < end ? x + C : x, largest);
}
