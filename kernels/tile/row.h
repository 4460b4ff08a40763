// A row of a matrix under the `simd` mapping, for operators whose lanes run along it: register by register, and then
// across the lanes of one. No element past the row is ever read or written.
#pragma once
#include "lanes.h"
#include "pairwise.h"

namespace tile {

/// A whole register of a row, and what is left of it at its end.
struct whole_piece {
  __device__ __forceinline__ lanes load(const float *from, float) const { return tile::load(from); }
  __device__ __forceinline__ void store(float *to, lanes value) const { tile::store(to, value); }
};
struct last_piece {
  int count; // less than LANES
  /// Lanes past the end hold `fill`.
  __device__ __forceinline__ lanes load(const float *from, float fill) const {
    float each[LANES];
#pragma unroll
    for (int i = 0; i < LANES; ++i)
      each[i] = i < count ? from[i] : fill;
    return tile::load(each);
  }
  __device__ __forceinline__ void store(float *to, lanes value) const {
    float each[LANES];
    tile::store(each, value);
#pragma unroll 1
    for (int i = 0; i < count; ++i)
      to[i] = each[i];
  }
};

/// Calls each(piece, part, column) for every register of `columns` columns; neighbours have different parts < `parts`, so
/// that partial results run side by side.
template <int parts, class body> __device__ __forceinline__ void over_row(int columns, const body &each) {
  int column = 0;
#pragma unroll 1
  for (; column + parts * LANES <= columns; column += parts * LANES)
#pragma unroll
    for (int part = 0; part < parts; ++part)
      each(whole_piece{}, part, column + part * LANES);
#pragma unroll 1
  for (; column + LANES <= columns; column += LANES)
    each(whole_piece{}, 0, column);
  if (column < columns)
    each(last_piece{columns - column}, 0, column);
}

__device__ __forceinline__ float sum_across(lanes value) {
  float each[LANES];
  store(each, value);
  return pairwise_sum(each);
}

/// A NaN may be dropped, as larger() does.
__device__ __forceinline__ float largest_across(lanes value) {
  float each[LANES];
  store(each, value);
#pragma unroll
  for (int width = LANES / 2; width > 0; width /= 2)
#pragma unroll
    for (int i = 0; i < width; ++i)
      each[i] = each[i] > each[i + width] ? each[i] : each[i + width];
  return each[0];
}

/// The sum over a row of what term(piece, column) gives; lanes past the end must give 0.
template <class term> __device__ __forceinline__ float sum_over_row(int columns, const term &each) {
  constexpr int parts = 4;
  lanes partial[parts] = {};
  over_row<parts>(columns, [&](auto piece, int part, int column) { partial[part] += each(piece, column); });
  return sum_across(pairwise_sum(partial));
}

} // namespace tile
