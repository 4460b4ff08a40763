// Attention backward in float for cards whose unit is a wide core: one thread a block, one block a key-value head.
//
//   P = exp(scale · Q Kᵀ + mask - lse),  dP = dO Vᵀ,  delta = Σ dO · O over a row,  dS = P · (dP - delta)
//   dQ = scale · dS K,   dK = scale · dSᵀ Q,   dV = Pᵀ dO
//
// As in the forward, lanes run over queries: the products that make scores and dQ read K and V where they lie, with Q and dO
// turned over once a tile; those that make dK and dV weigh rows of Q and dO, kept as they lie beside. A block adds to its own
// keys and values alone, in order, so the result repeats bit for bit. A query that sees no key (lse -infinity) adds nothing.
//
// Launch: grid Hkv · B, block 1. Macros as those of flash_simd.cu. flash_backward_simd.toml says it to the tool.
#include "../tile/exponential.h"
#include "../tile/outer.h"
#include "parameters.h"
#include "visible.h"

namespace {

constexpr int query_width = tile::padded(HEAD_DIM), value_width = tile::padded(VALUE_DIM);

/// Of the queries of a tile: what their scores are taken against, and what is taken off dP. A query that is not there or sees
/// no key has an infinite log-sum-exp, so that its weights are 0.
template <int queries> struct row_terms {
  static constexpr int vectors = tile::registers_of<queries>();
  tile::lanes lse[vectors], delta[vectors];
};

/// `grads` and `outputs` are turned over. delta is summed over the dimensions in the order in which the product sums dP: where
/// one key has all the weight the two are equal, and their difference is 0 and not what two orders round to.
template <int queries>
__device__ __forceinline__ void load_terms(row_terms<queries> &terms, const float *lse,
                                           const tile::simd_tile<VALUE_DIM, queries> &outputs,
                                           const tile::simd_tile<VALUE_DIM, queries> &grads, int first) {
#pragma unroll 1
  for (int v = 0; v < terms.vectors; ++v) {
    tile::lanes delta = {};
#pragma unroll 1
    for (int part = 0; part < VALUE_DIM; part += tile::detail::depth_part) {
      tile::lanes sum = {};
#pragma unroll 1
      for (int d = part; d < min(part + tile::detail::depth_part, VALUE_DIM); ++d)
        sum = __builtin_elementwise_fma(outputs.at[d][v], grads.at[d][v], sum);
      delta += sum;
    }
    terms.delta[v] = delta;
#pragma unroll 1
    for (int i = 0; i < LANES; ++i) {
      const int row = first + v * LANES + i;
      const float log_sum = row < 0 ? __builtin_inff() : lse[row];
      terms.lse[v][i] = log_sum == -__builtin_inff() ? __builtin_inff() : log_sum;
    }
  }
}

/// Scores become weights.
template <int keys, int queries>
__device__ __forceinline__ void weigh(tile::simd_tile<keys, queries> &scores, const row_terms<queries> &terms,
                                      const tile::extents<queries> &reach) {
#pragma unroll 1
  for (int v = 0; v < scores.vectors; ++v)
#pragma unroll 4
    for (int k = 0; k < reach.end[v]; ++k)
      scores.at[k][v] = tile::exponential(scores.at[k][v] - terms.lse[v]);
}

/// dP becomes dS.
template <int keys, int queries>
__device__ __forceinline__ void differentiate(tile::simd_tile<keys, queries> &gradients,
                                              const tile::simd_tile<keys, queries> &weights,
                                              const row_terms<queries> &terms, const tile::extents<queries> &reach) {
#pragma unroll 1
  for (int v = 0; v < gradients.vectors; ++v)
#pragma unroll 4
    for (int k = 0; k < reach.end[v]; ++k)
      gradients.at[k][v] = weights.at[k][v] * (gradients.at[k][v] - terms.delta[v]);
}

__device__ __forceinline__ void clear(float *to, long long count) {
  long long n = 0;
#pragma unroll 1
  for (; n + LANES <= count; n += LANES)
    tile::store(to + n, tile::splat(0.0f));
#pragma unroll 1
  for (; n < count; ++n)
    to[n] = 0.0f;
}

} // namespace

template <int query_tile, int key_tile>
__global__ void flash_backward_simd(const float *__restrict__ query, const float *__restrict__ key,
                                    const float *__restrict__ value,
#if MASK
                                    const mask_element *__restrict__ mask, long long mask_stride_b,
                                    long long mask_stride_h, long long mask_stride_l,
#endif
                                    const float *__restrict__ grad_output, const float *__restrict__ output,
                                    const float *__restrict__ lse, float *__restrict__ grad_query,
                                    float *__restrict__ grad_key, float *__restrict__ grad_value, int B, int H, int Hkv,
                                    int L, int S, float scale, int causal) {
  static_assert(key_tile % attention::causal_step == 0, "key_tile must be a multiple of 16: causal work is cut there");

  const int batch = blockIdx.x / Hkv, group = H / Hkv, first_head = blockIdx.x % Hkv * group;
  const attention::triangle triangle{causal != 0, causal == 2 ? S - L : 0};
  const long long keys_before = (long long)blockIdx.x * S;
  key += keys_before * HEAD_DIM, value += keys_before * VALUE_DIM;
  grad_key += keys_before * HEAD_DIM, grad_value += keys_before * VALUE_DIM;
  clear(grad_key, (long long)S * HEAD_DIM);
  clear(grad_value, (long long)S * VALUE_DIM);

  tile::lanes one[tile::registers_of<query_tile>()], scales[tile::registers_of<query_tile>()];
#pragma unroll
  for (int v = 0; v < tile::registers_of<query_tile>(); ++v)
    one[v] = tile::splat(1.0f), scales[v] = tile::splat(scale);

#pragma unroll 1
  for (int head = first_head; head < first_head + group; ++head) {
    const long long plane = (long long)batch * H + head;
#if MASK
    const attention::mask_view<mask_element> view{mask + batch * mask_stride_b + head * mask_stride_h, mask_stride_l};
#endif
#pragma unroll 1
    for (int end_query = L; end_query > 0; end_query -= query_tile) {
      const int first_query = end_query - query_tile; // below 0: queries that are not there
      tile::simd_tile<HEAD_DIM, query_tile> queries, sums = {};
      tile::simd_tile<VALUE_DIM, query_tile> grads;
      tile::simd_tile<query_tile, query_width> query_rows;
      tile::simd_tile<query_tile, value_width> grad_rows;
      tile::load_transposed(queries, query + plane * L * HEAD_DIM, first_query, scale);
      tile::load_transposed(grads, grad_output + plane * L * VALUE_DIM, first_query, 1.0f);
      tile::load_rows<HEAD_DIM>(query_rows, query + plane * L * HEAD_DIM, first_query, scale);
      tile::load_rows<VALUE_DIM>(grad_rows, grad_output + plane * L * VALUE_DIM, first_query, 1.0f);
      row_terms<query_tile> terms;
      {
        tile::simd_tile<VALUE_DIM, query_tile> outputs;
        tile::load_transposed(outputs, output + plane * L * VALUE_DIM, first_query, 1.0f);
        load_terms(terms, lse + plane * L, outputs, grads, first_query);
      }

      const int visible_keys = triangle.count(end_query - 1, S);
#pragma unroll 1
      for (int first_key = 0; first_key < visible_keys; first_key += key_tile) {
        const int count = min(key_tile, visible_keys - first_key);
        const auto reach = attention::reach_of<query_tile>(triangle, first_query, first_key, count);
        const float *keys = key + (long long)first_key * HEAD_DIM, *values = value + (long long)first_key * VALUE_DIM;
        tile::simd_tile<key_tile, query_tile> weights, gradients;
        tile::product(weights, keys, queries, reach);
#if MASK
        attention::add_mask(weights, view, first_query, first_key, reach);
#endif
        attention::hide_unseen<1>(weights, triangle, first_query, first_key, reach);
        weigh(weights, terms, reach);
        tile::product(gradients, values, grads, reach);
        differentiate(gradients, weights, terms, reach);
        tile::add_product(sums, gradients, keys, one, reach);
        tile::add_outer<HEAD_DIM>(grad_key + (long long)first_key * HEAD_DIM, gradients, query_rows, reach);
        tile::add_outer<VALUE_DIM>(grad_value + (long long)first_key * VALUE_DIM, weights, grad_rows, reach);
      }
      tile::store_transposed(grad_query + plane * L * HEAD_DIM, sums, first_query, scales);
    }
  }
}
