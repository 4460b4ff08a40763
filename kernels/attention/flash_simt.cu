// Attention forward in float for cards whose unit is a block of threads: 256 threads own a tile of queries.
//
//   output = softmax(scale · query · keyᵀ + mask) · value,   lse = log Σ exp(scores)
//
// K and V are staged row-major in shared memory, one after the other in the same place; Q is turned over once. Warps
// stand at 32 neighbouring queries in every step: the scores Sᵀ = K·Qᵀ, their reductions over keys, and the outputs
// Oᵀ = Vᵀ·Pᵀ read 32 banks side by side, and one element of K or V for all. A query with no visible key gives output 0
// and lse -infinity.
//
// Launch: grid ceil_div(L, query_tile) · H · B, block 256, dynamic shared memory
// (HEAD_DIM · query_tile + key_tile · max(HEAD_DIM, VALUE_DIM rounded up to 8, 24)) · 4 bytes. Macros: parameters.h;
// flash_simt.toml says it to the tool.
#include "online_softmax_simt.h"
#include "parameters.h"
#include "triangle.h"

using block = tile::block<256>;

/// Of the values that a tile holds, and of the place that K and V take turns in: wide enough for partial_results, too.
constexpr int value_dim = (VALUE_DIM + block::warps - 1) / block::warps * block::warps;
constexpr int wider = HEAD_DIM > value_dim ? HEAD_DIM : value_dim, staged_columns = wider > 24 ? wider : 24;

/// Scores, transposed, of one thread: scaled already. Keys and queries that hide from each other become -infinity.
template <class fragment, int keys, int queries>
__device__ __forceinline__ void keep_visible(tile::shared_tile<keys, queries> &to, const fragment &scores,
                                             int first_query, int first_key, int S, const attention::triangle &causal,
                                             const mask_element *mask, long long mask_stride) {
#pragma unroll
  for (int i = 0; i < fragment::height; ++i)
#pragma unroll
    for (int j = 0; j < fragment::width; ++j) {
      const int query = first_query + fragment::column(j), key = first_key + fragment::row(i);
      float score = scores.at[i][j];
#if MASK
      if (key < S) {
        const float bias = attention::mask_bias(mask[max(query, 0) * mask_stride + key]);
        score = bias == tile::negative_infinity_of_one() ? bias : score + bias;
      }
#endif
      to.at[fragment::row(i)][fragment::column(j)] =
          key < causal.count(query, S) ? score : tile::negative_infinity_of_one();
    }
}

template <int query_tile, int key_tile, int reduce_stride> __global__ void __launch_bounds__(block::threads)
    flash_simt(const float *__restrict__ query, const float *__restrict__ key, const float *__restrict__ value,
#if MASK
               const mask_element *__restrict__ mask, long long mask_stride_b, long long mask_stride_h,
               long long mask_stride_l,
#endif
               float *__restrict__ output, float *__restrict__ lse, int B, int H, int Hkv, int L, int S, float scale,
               int causal) {
  static_assert((reduce_stride & (reduce_stride - 1)) == 0,
                "reduce_stride must be a power of two: partial sums pair up");
  using reducer = attention::reducer<block, key_tile, query_tile>;
  using score_fragment = tile::fragment<block, key_tile, query_tile>;
  using output_fragment = tile::fragment<block, value_dim, query_tile>;

  extern __shared__ float memory[];
  auto &queries = *reinterpret_cast<tile::shared_tile<HEAD_DIM, query_tile> *>(memory);
  auto &keys_or_values =
      *reinterpret_cast<tile::shared_tile<key_tile, staged_columns> *>(memory + HEAD_DIM * query_tile);
  auto &results = *reinterpret_cast<attention::partial_results<reducer::parts, query_tile> *>(&keys_or_values);
  static_assert(sizeof results <= sizeof keys_or_values,
                "a tile of keys is too small for partial results: make key_tile at least half of query_tile");
  __shared__ tile::shared_tile<key_tile, query_tile> scores;

  const attention::block_place place = attention::place_of(blockIdx.x, H * B, H, L, query_tile, causal != 0);
  const attention::triangle triangle{causal != 0, causal == 2 ? S - L : 0};
  const long long plane = (long long)place.batch * H + place.head;
  const long long shared_plane = (long long)place.batch * Hkv + place.head / (H / Hkv);
  const int visible_keys = triangle.count(place.first_query + query_tile - 1, S);
#if MASK
  mask += place.batch * mask_stride_b + place.head * mask_stride_h;
#else
  const mask_element *mask = nullptr;
  const long long mask_stride_l = 0;
#endif

  tile::stage_transposed<block>(queries, query + plane * L * HEAD_DIM, place.first_query, scale);
  output_fragment sums = {};
  attention::query_state state = {tile::negative_infinity_of_one(), 0.0f};

  // One tile at least, though it may hold no key that a query sees: a barrier in a loop that may not run at all stands in a
  // branch, and compilers for cards whose threads are loops copy what lies between such barriers again and again.
  int first_key = 0;
  do {
    const int count = min(key_tile, S - first_key);
    tile::stage<block, HEAD_DIM>(keys_or_values, key + (shared_plane * S + first_key) * HEAD_DIM, count);
    __syncthreads();
    score_fragment products = {};
    tile::multiply_add(products, keys_or_values, queries);
    keep_visible(scores, products, place.first_query, first_key, S, triangle, mask, mask_stride_l);
    __syncthreads();

    results.maximum[reducer::part()][reducer::query()] = attention::local_maximum<reduce_stride, reducer>(scores);
    __syncthreads();
    float maximum = results.maximum[0][reducer::query()], factor;
#pragma unroll
    for (int part = 1; part < reducer::parts; ++part)
      maximum = tile::larger(maximum, results.maximum[part][reducer::query()]);
    results.sum[reducer::part()][reducer::query()] =
        attention::rescale_and_sum<reduce_stride, reducer>(scores, state, factor, maximum);
    if (reducer::part() == 0)
      results.factor[reducer::query()] = factor;
    __syncthreads();
#pragma unroll
    for (int part = 0; part < reducer::parts; ++part)
      state.sum += results.sum[part][reducer::query()];
    float factors[output_fragment::width];
#pragma unroll
    for (int j = 0; j < output_fragment::width; ++j)
      factors[j] = results.factor[output_fragment::column(j)];
    __syncthreads();

    tile::stage<block, VALUE_DIM>(keys_or_values, value + (shared_plane * S + first_key) * VALUE_DIM, count);
    __syncthreads();
    attention::accumulate(sums, scores, keys_or_values, count, factors);
    __syncthreads();
    first_key += key_tile;
  } while (first_key < visible_keys);

  if (reducer::part() == 0) {
    const int row = place.first_query + reducer::query();
    results.factor[reducer::query()] = state.sum == 0.0f ? 0.0f : 1.0f / state.sum;
    if (row >= 0)
      lse[plane * L + row] = state.sum == 0.0f ? tile::negative_infinity_of_one() : state.maximum + logf(state.sum);
  }
  __syncthreads();
  float inverse[output_fragment::width];
#pragma unroll
  for (int j = 0; j < output_fragment::width; ++j)
    inverse[j] = results.factor[output_fragment::column(j)];
  __syncthreads();
  auto &turned = *reinterpret_cast<tile::shared_tile<query_tile, value_dim + 1> *>(memory); // over Q and K
  tile::turn(turned, sums, inverse);
  __syncthreads();
  const int missing = max(-place.first_query, 0);
  tile::unstage<block, VALUE_DIM>(output + (plane * L + place.first_query) * VALUE_DIM, turned, missing);
}
