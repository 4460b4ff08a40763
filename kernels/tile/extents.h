// How far each register of a score tile reaches along the keys.
//
// Under a causal mask the later queries of a tile see more keys than the earlier ones. A tile is therefore not masked
// as a whole: register v is computed for its first end[v] keys only, and every later step stops there too. Ends never
// decrease with v, so registers drop out of a product one by one, the first ones first.
#pragma once
#include "simd.h"

namespace tile {

template <int columns> struct extents {
  static constexpr int vectors = registers_of<columns>();
  int end[vectors];
};

namespace detail {
/// How many products are summed in a row: a longer depth is summed in parts, and the parts then added, so that rounding
/// grows with the part's length plus the number of parts instead of with the depth.
constexpr int depth_part = 64;

/// Products of `part` dimensions from d on, of rows k … k + rows - 1, added to scores unless they are the first part.
template <int part, int rows, int n, int keys, int columns, int depth>
__device__ __forceinline__ void product_part(simd_tile<keys, columns> &scores, const float *key,
                                             const simd_tile<depth, columns> &query, int first, int k, int d) {
  lanes sum[rows][n] = {};
  multiply_add<0>(sum, key + (long long)k * depth + d, depth, 1, &query.at[d][first], query.vectors, part);
#pragma unroll
  for (int i = 0; i < rows; ++i)
#pragma unroll
    for (int v = 0; v < n; ++v) {
      lanes &score = scores.at[k + i][first + v];
      score = d == 0 ? sum[i][v] : score + sum[i][v];
    }
}

/// Rows k … k + rows - 1 of scores for registers first … first + n - 1.
template <int rows, int n, int keys, int columns, int depth>
__device__ __forceinline__ void product_block(simd_tile<keys, columns> &scores, const float *key,
                                              const simd_tile<depth, columns> &query, int first, int k) {
  constexpr int rest = depth % depth_part, whole = depth - rest;
#pragma unroll 1
  for (int d = 0; d < whole; d += depth_part)
    product_part<depth_part, rows, n>(scores, key, query, first, k, d);
  if constexpr (rest > 0)
    product_part<rest, rows, n>(scores, key, query, first, k, whole);
}

/// Rows [begin, end) of scores for registers first … first + n - 1.
template <int n, int keys, int columns, int depth>
__device__ __forceinline__ void product_rows(simd_tile<keys, columns> &scores, const float *key,
                                             const simd_tile<depth, columns> &query, int first, int begin, int end) {
  constexpr int rows = register_block::rows;
  int k = begin;
#pragma unroll 1
  for (; k + rows <= end; k += rows)
    product_block<rows, n>(scores, key, query, first, k);
#pragma unroll 1
  for (; k < end; ++k)
    product_block<1, n>(scores, key, query, first, k);
}

/// Registers first … first + n - 1 from row `begin` on; the first of them drops out at its end.
template <int n, int keys, int columns, int depth>
__device__ __forceinline__ void product_registers(simd_tile<keys, columns> &scores, const float *key,
                                                  const simd_tile<depth, columns> &query,
                                                  const extents<columns> &reach, int first, int begin) {
  product_rows<n>(scores, key, query, first, begin, reach.end[first]);
  if constexpr (n > 1)
    product_registers<n - 1>(scores, key, query, reach, first + 1, reach.end[first]);
}

template <int skip, int rows, int n, int keys, int columns>
__device__ __forceinline__ void add_registers(lanes (&sum)[rows][n], const simd_tile<keys, columns> &weights,
                                              const float *value, int row_length, const extents<columns> &reach,
                                              int first, int begin) {
  const int end = reach.end[first + skip];
  multiply_add<skip>(sum, value + (long long)begin * row_length, 1, row_length, &weights.at[begin][first],
                     weights.vectors, end - begin);
  if constexpr (skip + 1 < n)
    add_registers<skip + 1>(sum, weights, value, row_length, reach, first, end);
}

/// `rows` rows of the output from row d on, for registers first … first + n - 1. A tile is summed from zero and then
/// added: rounding grows with the keys of a tile plus the number of tiles instead of with all keys.
template <int rows, int n, int depth, int keys, int columns>
__device__ __forceinline__ void add_rows(simd_tile<depth, columns> &output, const simd_tile<keys, columns> &weights,
                                         const float *value, const lanes *factor, const extents<columns> &reach,
                                         int first, int d) {
  lanes sum[rows][n] = {};
  add_registers<0>(sum, weights, value + d, depth, reach, first, 0);
#pragma unroll
  for (int i = 0; i < rows; ++i)
#pragma unroll
    for (int v = 0; v < n; ++v) {
      lanes &total = output.at[d + i][first + v];
      total = __builtin_elementwise_fma(total, factor[first + v], sum[i][v]);
    }
}

constexpr int block_width(int left) { return left < register_block::vectors ? left : register_block::vectors; }
} // namespace detail

/// scores[k][q] = Σ_d key[k·depth + d] · query[d][q] within the extents. `key` is row-major.
template <int first = 0, int keys, int columns, int depth>
__device__ __forceinline__ void product(simd_tile<keys, columns> &scores, const float *key,
                                        const simd_tile<depth, columns> &query, const extents<columns> &reach) {
  constexpr int n = detail::block_width(registers_of<columns>() - first);
  detail::product_registers<n>(scores, key, query, reach, first, 0);
  if constexpr (first + n < registers_of<columns>())
    product<first + n>(scores, key, query, reach);
}

/// output[d][q] = factor[q] · output[d][q] + Σ_k value[k·depth + d] · weights[k][q] within the extents. `value` is
/// row-major.
template <int first = 0, int depth, int keys, int columns>
__device__ __forceinline__ void add_product(simd_tile<depth, columns> &output, const simd_tile<keys, columns> &weights,
                                            const float *value, const lanes *factor, const extents<columns> &reach) {
  constexpr int n = detail::block_width(registers_of<columns>() - first);
  constexpr int rows = register_block::rows, rest = depth % rows;
#pragma unroll 1
  for (int d = 0; d + rows <= depth; d += rows)
    detail::add_rows<rows, n>(output, weights, value, factor, reach, first, d);
  if constexpr (rest > 0)
    detail::add_rows<rest, n>(output, weights, value, factor, reach, first, depth - rest);
  if constexpr (first + n < registers_of<columns>())
    add_product<first + n>(output, weights, value, factor, reach);
}

} // namespace tile
