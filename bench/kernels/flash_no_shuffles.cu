// Flash attention forward like flash_transposed.cu, but as machines without warps like it: rows are reduced through shared
// memory, and the loop over the keys is entered in any case (there is at least one key), so no barrier stands in a branch.
// grid (L / 64, heads, batch)
#include <cmath>
#include <cuda_runtime.h>

constexpr int tile = 64;     // queries and keys a block holds at once
constexpr int head_dim = 64; // built for this head dimension
constexpr int side = 16;     // threads along each side of a tile
constexpr int each = tile / side;
constexpr int pad = 1;

/// A value a thread becomes a row's 16 values a thread.
__device__ void share(float (*partial)[side], const float (&mine)[each], int line, int column) {
  __syncthreads();
#pragma unroll
  for (int i = 0; i < each; ++i)
    partial[line * each + i][column] = mine[i];
  __syncthreads();
}
__device__ float row_max(const float *partial) {
  float x = partial[0];
  for (int i = 1; i < side; ++i)
    x = fmaxf(x, partial[i]);
  return x;
}
__device__ float row_sum(const float *partial) {
  float x = partial[0];
  for (int i = 1; i < side; ++i)
    x += partial[i];
  return x;
}

/// The same rows as columns: neighbouring threads write to one column, which the padding spreads over the banks.
__device__ void load_transposed(float (*to)[tile + pad], const float *from, int first, int rows) {
  for (int i = threadIdx.x; i < tile * head_dim; i += blockDim.x) {
    const int row = i / head_dim, d = i % head_dim;
    to[d][row] = first + row < rows ? from[(long long)(first + row) * head_dim + d] : 0.0f;
  }
}

/// Rows [first, first + tile) of a row-major matrix into shared memory; rows that do not exist become 0.
__device__ void load_tile(float (*to)[head_dim + pad], const float *from, int first, int rows) {
  for (int i = threadIdx.x; i < tile * head_dim; i += blockDim.x) {
    const int row = i / head_dim, d = i % head_dim;
    to[row][d] = first + row < rows ? from[(long long)(first + row) * head_dim + d] : 0.0f;
  }
}

__global__ void __launch_bounds__(side *side)
    flash_no_shuffles(const float *__restrict__ query, const float *__restrict__ key, const float *__restrict__ value,
                  float *__restrict__ output, int heads, int kv_heads, int queries, int keys, float scale) {
  __shared__ float q_tile[tile][head_dim + pad];
  __shared__ float kv_tile[tile][head_dim + pad]; // K as [dimension][key], V as [key][dimension]
  __shared__ float weights[tile][side]; // a quarter of the keys at a time keeps the block under 48 KiB
  const int head = blockIdx.y, batch = blockIdx.z, first_query = blockIdx.x * tile;
  const int column = threadIdx.x % side, line = threadIdx.x / side;
  const long long plane = (long long)batch * heads + head;
  const long long kv_plane = (long long)batch * kv_heads + head / (heads / kv_heads);
  const float *k = key + kv_plane * keys * head_dim, *v = value + kv_plane * keys * head_dim;

  float sums[each][each] = {}; // queries line * 4 + i, dimensions column + 16 * j
  float maximum[each], total[each] = {};
  for (int i = 0; i < each; ++i)
    maximum[i] = -INFINITY;
  load_tile(q_tile, query + plane * queries * head_dim, first_query, queries);

  int first_key = 0;
  do {
    __syncthreads();
    load_transposed(kv_tile, k, first_key, keys);
    __syncthreads();

    float score[each][each] = {}; // keys column + 16 * j
    for (int d = 0; d < head_dim; ++d)
#pragma unroll
      for (int i = 0; i < each; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j)
          score[i][j] += q_tile[line * each + i][d] * kv_tile[d][column + side * j];

    float local[each], rescale[each]; // phase 1: the tile's maximum
#pragma unroll
    for (int i = 0; i < each; ++i) {
      local[i] = -INFINITY;
#pragma unroll
      for (int j = 0; j < each; ++j) {
        score[i][j] = first_key + column + side * j < keys ? score[i][j] * scale : -INFINITY;
        local[i] = fmaxf(local[i], score[i][j]);
      }
    }
    share(weights, local, line, column);
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const float newest = fmaxf(maximum[i], row_max(weights[line * each + i]));
      rescale[i] = expf(maximum[i] - newest); // phase 2: the maximum moves, then the sum
      maximum[i] = newest;
      local[i] = 0.0f;
#pragma unroll
      for (int j = 0; j < each; ++j) {
        score[i][j] = expf(score[i][j] - newest);
        local[i] += score[i][j];
      }
    }
    share(weights, local, line, column);
#pragma unroll
    for (int i = 0; i < each; ++i) {
      total[i] = total[i] * rescale[i] + row_sum(weights[line * each + i]);
#pragma unroll
      for (int j = 0; j < each; ++j)
        sums[i][j] *= rescale[i];
    }

    __syncthreads();
    load_tile(kv_tile, v, first_key, keys); // phase 3: V takes the place of K
#pragma unroll
    for (int j = 0; j < each; ++j) { // 16 keys at a time: those that each thread holds as score[.][j]
      __syncthreads();
#pragma unroll
      for (int i = 0; i < each; ++i)
        weights[line * each + i][column] = score[i][j];
      __syncthreads();
      for (int s = 0; s < side; ++s)
#pragma unroll
        for (int i = 0; i < each; ++i)
#pragma unroll
          for (int d = 0; d < each; ++d)
            sums[i][d] += weights[line * each + i][s] * kv_tile[side * j + s][column + side * d];
    }
    first_key += tile;
  } while (first_key < keys);

  for (int i = 0; i < each; ++i) {
    const int row = first_query + line * each + i;
    if (row >= queries)
      continue;
    const float inverse = total[i] > 0.0f ? 1.0f / total[i] : 0.0f; // no key at all: 0
    for (int d = 0; d < each; ++d)
      output[(plane * queries + row) * head_dim + column + side * d] = sums[i][d] * inverse;
  }
}
