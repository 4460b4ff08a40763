// Products that add up over a tile's columns, where extents.h adds over its rows: what each row of a left tile weighs of the
// right tile's rows, added to a matrix in memory.
#pragma once
#include "extents.h"

namespace tile {

/// Columns of a tile that holds `columns` of a matrix in whole registers.
constexpr int padded(int columns) { return (columns + LANES - 1) / LANES * LANES; }

/// to[i] = factor · the matrix' row first + i, its columns past `columns` 0; a row before the matrix (first + i < 0) is 0.
template <int columns, int rows, int width>
__device__ __forceinline__ void load_rows(simd_tile<rows, width> &to, const float *from, int first, float factor) {
  static_assert(width == padded(columns), "the tile must be as wide as the matrix, in whole registers: padded(columns)");
#pragma unroll 1
  for (int i = 0; i < rows; ++i) {
    const float *row = from + (long long)(first + i) * columns;
#pragma unroll
    for (int v = 0; v < to.vectors; ++v) {
      lanes values = {};
      if (first + i < 0) {
      } else if ((v + 1) * LANES <= columns) {
        values = load(row + v * LANES);
      } else {
#pragma unroll 1
        for (int c = v * LANES; c < columns; ++c)
          values[c - v * LANES] = row[c];
      }
      to.at[i][v] = values * factor;
    }
  }
}

namespace detail {
/// to[0 … `columns` of this register) += sum.
template <int columns> __device__ __forceinline__ void add_to_memory(float *to, lanes sum, int v) {
  if ((v + 1) * LANES <= columns) {
    store(to + v * LANES, load(to + v * LANES) + sum);
    return;
  }
#pragma unroll 1
  for (int c = v * LANES; c < columns; ++c)
    to[c] += sum[c - v * LANES];
}

/// Rows k … k + rows - 1 of the matrix, registers first … first + n - 1 of each, from the left tile's column `begin` on.
template <int columns, int rows, int n, int keys, int queries, int width>
__device__ __forceinline__ void outer_block(float *to, const simd_tile<keys, queries> &left,
                                            const simd_tile<queries, width> &right, int k, int first, int begin) {
  lanes sum[rows][n] = {};
  const float *scalars = reinterpret_cast<const float *>(&left.at[k][0]) + begin;
  multiply_add<0>(sum, scalars, queries, 1, &right.at[begin][first], right.vectors, queries - begin);
#pragma unroll
  for (int i = 0; i < rows; ++i)
#pragma unroll
    for (int v = 0; v < n; ++v)
      add_to_memory<columns>(to + (long long)(k + i) * columns, sum[i][v], first + v);
}

/// All registers of rows k … k + rows - 1.
template <int columns, int rows, int keys, int queries, int width>
__device__ __forceinline__ void outer_rows(float *to, const simd_tile<keys, queries> &left,
                                           const simd_tile<queries, width> &right, int k, int begin) {
  constexpr int n = 4; // registers of a row that are summed at once
  constexpr int all = registers_of<width>(), whole = all / n * n;
#pragma unroll 1
  for (int first = 0; first < whole; first += n)
    outer_block<columns, rows, n>(to, left, right, k, first, begin);
  if constexpr (whole < all)
    outer_block<columns, rows, all - whole>(to, left, right, k, whole, begin);
}
} // namespace detail

/// to[k] += Σ_q left[k][q] · right[q] for each row k that some register of the left tile reaches; `to` has rows of
/// `columns`. A tile's part is summed from zero and then added.
template <int columns, int keys, int queries, int width>
__device__ __forceinline__ void add_outer(float *to, const simd_tile<keys, queries> &left,
                                          const simd_tile<queries, width> &right, const extents<queries> &reach) {
  constexpr int rows = 4;
  int k = 0;
#pragma unroll 1
  for (int v = 0; v < reach.vectors; ++v) { // rows that register v reaches and those before it do not
    const int begin = v * LANES;
#pragma unroll 1
    for (; k + rows <= reach.end[v]; k += rows)
      detail::outer_rows<columns, rows>(to, left, right, k, begin);
#pragma unroll 1
    for (; k < reach.end[v]; ++k)
      detail::outer_rows<columns, 1>(to, left, right, k, begin);
  }
}

} // namespace tile
