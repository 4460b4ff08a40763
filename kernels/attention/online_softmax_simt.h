// Online softmax in three phases under the `simt` mapping, always in this order for every tile of keys:
//   1. local_maximum      the largest score of the tile, per query
//   2. rescale_and_sum    the running maximum moves first; the sum so far is rescaled to it and the tile's exponentials,
//                         taken against it, are added
//   3. accumulate         the output so far is rescaled by the same factor and the exponentials weigh the tile's values
//
// Scores lie transposed in shared memory, key by key: the threads of a warp stand at 32 neighbouring queries, so every
// step of a reduction over keys reads 32 banks. A query's keys are split among the threads that stand at it.
#pragma once
#include "../tile/pairwise.h"
#include "../tile/simt.h"

namespace attention {

/// A thread's query in phases 1 and 2, and which of the query's `parts` shares of the keys is the thread's.
template <class block, int keys, int queries> struct reducer {
  static_assert(block::threads % queries == 0, "a block has a whole number of threads for each query");
  static constexpr int parts = block::threads / queries;
  static constexpr int share = keys / parts;
  static_assert(keys % parts == 0, "the keys of a tile divide among the threads of a query");

  __device__ __forceinline__ static int query() { return block::thread() % queries; }
  __device__ __forceinline__ static int part() { return block::thread() / queries; }
  __device__ __forceinline__ static int first_key() { return part() * share; }
};

/// What each part has found, for the others.
template <int parts, int queries> struct partial_results {
  float maximum[parts][queries];
  float sum[parts][queries];
  float factor[queries];
};

/// What is known of a thread's query so far; all threads of a query know the same.
struct query_state {
  float maximum, sum;
};

/// Phase 1, the thread's share: `stride` partial maxima run side by side, key k in partial k mod stride.
template <int stride, class reducer, int keys, int queries>
__device__ __forceinline__ float local_maximum(const tile::shared_tile<keys, queries> &scores) {
  static_assert(reducer::share % stride == 0,
                "reduce_stride must divide the keys of a thread: key_tile · query_tile / 256");
  const int query = reducer::query(), first = reducer::first_key();
  float partial[stride];
#pragma unroll
  for (int j = 0; j < stride; ++j)
    partial[j] = tile::negative_infinity_of_one();
#pragma unroll 1
  for (int k = 0; k < reducer::share; k += stride)
#pragma unroll
    for (int j = 0; j < stride; ++j)
      partial[j] = tile::larger(partial[j], scores.at[first + k + j][query]);
#pragma unroll
  for (int j = 1; j < stride; ++j)
    partial[0] = tile::larger(partial[0], partial[j]);
  return partial[0];
}

/// Phase 2, the thread's share: scores become weights in place and are summed. `tile_maximum` is phase 1's, of all
/// shares; `factor` is what everything summed before is to be multiplied with. A query that has seen no key keeps
/// maximum -infinity; its exponentials are taken against 0, all of -infinity, and give 0 instead of NaN.
template <int stride, class reducer, int keys, int queries> __device__ __forceinline__ float
rescale_and_sum(tile::shared_tile<keys, queries> &scores, query_state &state, float &factor, float tile_maximum) {
  const int query = reducer::query(), first = reducer::first_key();
  const float maximum = tile::larger(state.maximum, tile_maximum);
  const float base = maximum == tile::negative_infinity_of_one() ? 0.0f : maximum;
  factor = tile::exponential(state.maximum - base);
  state.maximum = maximum;
  state.sum *= factor;
  float partial[stride] = {};
#pragma unroll 1
  for (int k = 0; k < reducer::share; k += stride)
#pragma unroll
    for (int j = 0; j < stride; ++j) {
      const float weight = tile::exponential(scores.at[first + k + j][query] - base);
      scores.at[first + k + j][query] = weight;
      partial[j] += weight;
    }
  return tile::pairwise_sum(partial);
}

/// Phase 3: output[d][q] = factor[q] · output[d][q] + Σ_k values[k][d] · weights[k][q] for k < count. A tile is summed
/// from zero and then added: rounding grows with the keys of a tile plus the number of tiles instead of with all keys.
/// Eight rows at a time, so that their sums and what they are added to fit the registers.
template <class fragment, int keys, int queries, int columns>
__device__ __forceinline__ void accumulate(fragment &output, const tile::shared_tile<keys, queries> &weights,
                                           const tile::shared_tile<keys, columns> &values, int count,
                                           const float (&factor)[fragment::width]) {
  constexpr int rows = fragment::height < 8 ? fragment::height : 8;
#pragma unroll
  for (int first = 0; first < fragment::height; first += rows) {
    float sum[rows][fragment::width] = {};
    tile::multiply_add_turned<rows, fragment>(sum, values, fragment::row(first), weights, count);
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < fragment::width; ++j)
        if (first + i < fragment::height)
          output.at[first + i][j] = fmaf(output.at[first + i][j], factor[j], sum[i][j]);
  }
}

} // namespace attention
