// What a query sees, under the `simd` mapping: how far each register reaches into the causal triangle, and a mask tensor
// that drops (bool) or adds to (float) scores.
#pragma once
#include "../tile/extents.h"
#include "parameters.h"
#include "triangle.h"

namespace attention {

using tile::lanes;

/// Causal work is cut at multiples of this many keys: finer costs more in broken register blocks than it saves.
constexpr int causal_step = 16;

/// The extents of the tile of `count` keys from `key` on, for queries from `first` on (negative: not there, reach 0).
template <int queries>
__device__ __forceinline__ tile::extents<queries> reach_of(const triangle &causal, int first, int key, int count) {
  tile::extents<queries> reach;
#pragma unroll
  for (int v = 0; v < reach.vectors; ++v) {
    const int last = first + v * LANES + LANES - 1;
    const int seen = last < 0 ? 0 : max(0, causal.count(last, key + count) - key);
    reach.end[v] = min((seen + causal_step - 1) / causal_step * causal_step, count);
  }
  return reach;
}

/// Scores above the diagonal become -infinity, and so do the rows up to the next multiple of `stride`.
template <int stride, int keys, int queries>
__device__ __forceinline__ void hide_unseen(tile::simd_tile<keys, queries> &scores, const triangle &causal, int first,
                                            int key, const tile::extents<queries> &reach) {
#pragma unroll 1
  for (int v = 0; v < scores.vectors; ++v) {
    const int end = reach.end[v];
#pragma unroll 1
    for (int k = end; k % stride != 0; ++k)
      scores.at[k][v] = tile::negative_infinity();
    if (!causal.limited)
      continue;
    const int row = first + v * LANES;
    const tile::int_lanes last_seen = tile::lane_index() + (row + causal.offset - key);
#pragma unroll 1
    for (int k = max(0, row + causal.offset - key + 1); k < end; ++k)
      scores.at[k][v] = last_seen < k ? tile::negative_infinity() : scores.at[k][v];
  }
}

/// A mask tensor at the head that is computed; stride 0 broadcasts one row to all queries. Keys lie side by side.
template <class element> struct mask_view {
  const element *base;
  long long query_stride;

  /// LANES keys of one query.
  __device__ __forceinline__ static lanes bias_row(const float *from) { return tile::load(from); }
  __device__ __forceinline__ static lanes bias_row(const unsigned char *from) {
    lanes row;
#pragma unroll
    for (int i = 0; i < LANES; ++i)
      row[i] = mask_bias(from[i]);
    return row;
  }
};

/// -infinity hides a key whatever its score, NaN and infinity included.
__device__ __forceinline__ lanes add_bias(lanes score, lanes bias) {
  return bias == tile::negative_infinity() ? bias : score + bias;
}

/// Adds the mask to the tile that starts at query `first` (negative: repeat query 0) and key `key`.
template <class element, int keys, int queries>
__device__ __forceinline__ void add_mask(tile::simd_tile<keys, queries> &scores, const mask_view<element> &mask,
                                         int first, int key, const tile::extents<queries> &reach) {
  const element *corner = mask.base + key;
#pragma unroll 1
  for (int v = 0; v < scores.vectors; ++v) {
    const element *row[LANES];
#pragma unroll
    for (int i = 0; i < LANES; ++i)
      row[i] = corner + max(first + v * LANES + i, 0) * mask.query_stride;
    int k = 0;
#pragma unroll 1
    for (; k + LANES <= reach.end[v]; k += LANES) {
      lanes square[LANES];
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        square[i] = mask.bias_row(row[i] + k);
      tile::transpose(square);
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        scores.at[k + i][v] = add_bias(scores.at[k + i][v], square[i]);
    }
#pragma unroll 1
    for (; k < reach.end[v]; ++k) {
      lanes bias;
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        bias[i] = mask_bias(row[i][k]);
      scores.at[k][v] = add_bias(scores.at[k][v], bias);
    }
  }
}

} // namespace attention
