// Online softmax in three phases, always in this order for every tile of keys:
//   1. local_maximum      the largest score of the tile, per query
//   2. rescale_and_sum    the running maximum moves first; the sum so far is rescaled to it and the tile's exponentials,
//                         taken against it, are added
//   3. accumulate         the output so far is rescaled by the same factor and the exponentials weigh the tile's values
// No exponential is taken against a maximum that later grows without the rescale in between, so nothing overflows
// however large the scores and however many tiles follow.
#pragma once
#include "../tile/exponential.h"
#include "../tile/extents.h"
#include "../tile/pairwise.h"

namespace attention {

using tile::lanes;

/// What is known of each query so far: maximum of its scores and sum of their exponentials relative to it.
template <int queries> struct softmax_state {
  static constexpr int vectors = tile::registers_of<queries>();
  lanes maximum[vectors];
  lanes sum[vectors];
};

/// Phase 1. `stride` partial maxima run side by side, key k in partial k mod stride; rows past an extent up to the next
/// multiple of `stride` must hold -infinity.
template <int stride, int keys, int queries>
__device__ __forceinline__ void local_maximum(lanes *maximum, const tile::simd_tile<keys, queries> &scores,
                                              const tile::extents<queries> &reach) {
#pragma unroll 1
  for (int v = 0; v < scores.vectors; ++v) {
    lanes partial[stride];
#pragma unroll
    for (int j = 0; j < stride; ++j)
      partial[j] = tile::negative_infinity();
#pragma unroll 1
    for (int k = 0; k < reach.end[v]; k += stride)
#pragma unroll
      for (int j = 0; j < stride; ++j)
        partial[j] = tile::larger(partial[j], scores.at[k + j][v]);
#pragma unroll
    for (int j = 1; j < stride; ++j)
      partial[0] = tile::larger(partial[0], partial[j]);
    maximum[v] = partial[0];
  }
}

/// Phase 2. Scores become weights in place. `tile_maximum` is phase 1's; `factor` is what everything summed before is
/// to be multiplied with. A query that has seen no key keeps maximum -infinity; its exponentials are taken against 0,
/// all of -infinity, and give 0 instead of NaN.
template <int stride, int keys, int queries>
__device__ __forceinline__ void rescale_and_sum(tile::simd_tile<keys, queries> &scores, softmax_state<queries> &state,
                                                lanes *factor, const lanes *tile_maximum,
                                                const tile::extents<queries> &reach) {
#pragma unroll 1
  for (int v = 0; v < scores.vectors; ++v) {
    const lanes maximum = tile::larger(state.maximum[v], tile_maximum[v]);
    const lanes base = maximum == tile::negative_infinity() ? tile::splat(0.0f) : maximum;
    factor[v] = tile::exponential(state.maximum[v] - base);
    state.maximum[v] = maximum;
    lanes partial[stride] = {};
#pragma unroll 1
    for (int k = 0; k < reach.end[v]; k += stride)
#pragma unroll
      for (int j = 0; j < stride; ++j) {
        const lanes weight = tile::exponential(scores.at[k + j][v] - base);
        scores.at[k + j][v] = weight;
        partial[j] += weight;
      }
    state.sum[v] = state.sum[v] * factor[v] + tile::pairwise_sum(partial);
  }
}

/// Phase 3. `value` points at the tile's first row of V.
template <int keys, int queries, int depth>
__device__ __forceinline__ void accumulate(tile::simd_tile<depth, queries> &output,
                                           const tile::simd_tile<keys, queries> &weights, const float *value,
                                           const lanes *factor, const tile::extents<queries> &reach) {
  tile::add_product(output, weights, value, factor, reach);
}

} // namespace attention
