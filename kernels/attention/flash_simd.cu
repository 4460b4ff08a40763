// Attention forward in float for cards whose unit is a wide core: one thread a block, one block a tile of queries.
//
//   output = softmax(scale · query · keyᵀ + mask) · value,   lse = log Σ exp(scores)
//
// Lanes run over queries: the transposed scores Sᵀ = K·Qᵀ and outputs Oᵀ = Vᵀ·Pᵀ are products of scalars read where K
// and V lie (row-major, never packed) with registers of queries, so no step needs work across lanes; only the query
// and output tiles are turned over, once each. A query with no visible key gives output 0 and lse -infinity.
//
// Launch: grid ceil_div(L, query_tile) · H · B, block 1. Macros: HEAD_DIM and VALUE_DIM (any ≥ 1; multiples of LANES
// are fastest), MASK (0 none, 1 bool, 2 additive), LANES (16 for AVX-512, 8 for AVX2). flash_simd.toml says it to
// the tool; docs/kernels.md walks through one tile.
#include "online_softmax.h"
#include "parameters.h"
#include "visible.h"

/// log Σ exp(scores), and the factor that normalises the output: 1/sum, or 0 where no key was seen.
template <int queries>
__device__ __forceinline__ void finish(const attention::softmax_state<queries> &state, tile::lanes *inverse, float *lse,
                                       int first_query) {
#pragma unroll 1
  for (int v = 0; v < state.vectors; ++v) {
    const tile::lanes sum = state.sum[v];
    inverse[v] = sum == 0.0f ? tile::splat(0.0f) : 1.0f / sum;
#pragma unroll 1
    for (int i = 0; i < LANES; ++i) {
      const int query = first_query + v * LANES + i;
      if (query >= 0)
        lse[query] = sum[i] == 0.0f ? -__builtin_inff() : state.maximum[v][i] + logf(sum[i]);
    }
  }
}

template <int query_tile, int key_tile, int reduce_stride>
__global__ void flash_simd(const float *__restrict__ query, const float *__restrict__ key,
                           const float *__restrict__ value,
#if MASK
                           const mask_element *__restrict__ mask, long long mask_stride_b, long long mask_stride_h,
                           long long mask_stride_l,
#endif
                           float *__restrict__ output, float *__restrict__ lse, int B, int H, int Hkv, int L, int S,
                           float scale, int causal) {
  static_assert(key_tile % attention::causal_step == 0, "key_tile must be a multiple of 16: causal work is cut there");
  static_assert(key_tile % reduce_stride == 0, "key_tile must be a multiple of reduce_stride");
  static_assert((reduce_stride & (reduce_stride - 1)) == 0, "reduce_stride must be a power of two: partial sums pair up");

  const attention::block_place place = attention::place_of(blockIdx.x, H * B, H, L, query_tile, causal != 0);
  const attention::triangle triangle{causal != 0, causal == 2 ? S - L : 0};
  const long long plane = (long long)place.batch * H + place.head;
  const long long shared_plane = (long long)place.batch * Hkv + place.head / (H / Hkv);
  const int last_query = place.first_query + query_tile - 1;
  const int visible_keys = triangle.count(last_query, S);
#if MASK
  const attention::mask_view<mask_element> view{
      mask + place.batch * mask_stride_b + place.head * mask_stride_h, mask_stride_l};
#endif

  tile::simd_tile<HEAD_DIM, query_tile> queries; // scaled here, once, instead of at every score
  tile::load_transposed(queries, query + plane * L * HEAD_DIM, place.first_query, scale);
  tile::simd_tile<VALUE_DIM, query_tile> sums = {};
  tile::simd_tile<key_tile, query_tile> scores;
  attention::softmax_state<query_tile> state = {};
#pragma unroll
  for (int v = 0; v < state.vectors; ++v)
    state.maximum[v] = tile::negative_infinity();

#pragma unroll 1
  for (int first_key = 0; first_key < visible_keys; first_key += key_tile) {
    const int count = min(key_tile, visible_keys - first_key);
    const auto reach = attention::reach_of<query_tile>(triangle, place.first_query, first_key, count);
    tile::product(scores, key + (shared_plane * S + first_key) * HEAD_DIM, queries, reach);
#if MASK
    attention::add_mask(scores, view, place.first_query, first_key, reach);
#endif
    attention::hide_unseen<reduce_stride>(scores, triangle, place.first_query, first_key, reach);

    tile::lanes maximum[state.vectors], factor[state.vectors];
    attention::local_maximum<reduce_stride>(maximum, scores, reach);
    attention::rescale_and_sum<reduce_stride>(scores, state, factor, maximum, reach);
    attention::accumulate(sums, scores, value + (shared_plane * S + first_key) * VALUE_DIM, factor, reach);
  }

  tile::lanes inverse[state.vectors];
  finish(state, inverse, lse + plane * L, place.first_query);
  tile::store_transposed(output + plane * L * VALUE_DIM, sums, place.first_query, inverse);
}
