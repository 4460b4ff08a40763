// softmax over the rows of a matrix, forward, in float, for cards whose unit is a wide core: one thread a block, a block
// some neighbouring rows, lanes along the row.
//
//   output = e^(x - max x) / Σ e^(x - max x),   or its logarithm
//
// Three passes: the maximum, which brings the row into the cache; the exponentials and their sum; the division. A row of
// minus infinities and one with a NaN come out as NaN, as the formula has it.
//
// Launch: grid ceil_div(N, rows), block 1. Macros: LOG (0 softmax, 1 its logarithm), LANES. softmax_simd.toml says it to
// the tool.
#include "../tile/exponential.h"
#include "../tile/row.h"

#ifndef LOG
#define LOG 0
#endif

__device__ __forceinline__ void softmax_row(const float *__restrict__ x, float *__restrict__ y, int columns) {
  constexpr int parts = 4;
  constexpr float nothing = -__builtin_inff();
  tile::lanes largest[parts] = {tile::splat(nothing), tile::splat(nothing), tile::splat(nothing), tile::splat(nothing)};
  tile::over_row<parts>(columns, [&](auto piece, int part, int column) {
    largest[part] = tile::larger(largest[part], piece.load(x + column, nothing));
  });
  const float maximum = tile::largest_across(tile::larger(tile::larger(largest[0], largest[1]),
                                                          tile::larger(largest[2], largest[3])));
  const float sum = tile::sum_over_row(columns, [&](auto piece, int column) {
    const tile::lanes weight = tile::exponential(piece.load(x + column, nothing) - maximum);
#if !LOG
    piece.store(y + column, weight);
#endif
    return weight;
  });
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
#pragma unroll 1
  for (int row = first; row < end; ++row)
    softmax_row(input + (long long)row * C, output + (long long)row * C, C);
}
