// Flash attention forward in float: a block of 256 threads owns 64 queries of one head and walks over tiles of 64 keys.
// Scores never leave the block; softmax is online: per tile the local maximum, then the rescaled sum of exponentials,
// then the accumulation of V.
//
// 16 x 16 threads share a 64 x 64 tile, each owning 4 x 4 of it. Shared memory holds one tile each of Q and of K (then V)
// and a quarter of the weights: 36.5 KiB of the 48 that a launch gets without asking. Rows of K are padded by one float, so that the 16
// threads that read down a column hit 16 banks.
//
// nvcc flash.cu -o flash && ./flash
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

constexpr int tile = 64;     // queries and keys a block holds at once
constexpr int head_dim = 64; // built for this head dimension
constexpr int side = 16;     // threads along each side of a tile
constexpr int each = tile / side;
constexpr int pad = 1;

/// Largest (or sum) over the 16 threads that share a row: lanes 0-15 and 16-31 of a warp are two rows.
__device__ float row_max(float x) {
  for (int offset = side / 2; offset > 0; offset /= 2)
    x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, offset, side));
  return x;
}
__device__ float row_sum(float x) {
  for (int offset = side / 2; offset > 0; offset /= 2)
    x += __shfl_xor_sync(0xffffffff, x, offset, side);
  return x;
}

/// Rows [first, first + tile) of a row-major matrix into shared memory; rows that do not exist become 0.
__device__ void load_tile(float (*to)[head_dim + pad], const float *from, int first, int rows) {
  for (int i = threadIdx.x; i < tile * head_dim; i += blockDim.x) {
    const int row = i / head_dim, d = i % head_dim;
    to[row][d] = first + row < rows ? from[(long long)(first + row) * head_dim + d] : 0.0f;
  }
}

__global__ void __launch_bounds__(side *side)
    flash_forward(const float *__restrict__ query, const float *__restrict__ key, const float *__restrict__ value,
                  float *__restrict__ output, int heads, int kv_heads, int queries, int keys, float scale) {
  __shared__ float q_tile[tile][head_dim + pad];
  __shared__ float kv_tile[tile][head_dim + pad];
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

  for (int first_key = 0; first_key < keys; first_key += tile) {
    __syncthreads();
    load_tile(kv_tile, k, first_key, keys);
    __syncthreads();

    float score[each][each] = {}; // keys column + 16 * j
    for (int d = 0; d < head_dim; ++d)
#pragma unroll
      for (int i = 0; i < each; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j)
          score[i][j] += q_tile[line * each + i][d] * kv_tile[column + side * j][d];

#pragma unroll
    for (int i = 0; i < each; ++i) {
      float local = -INFINITY; // phase 1: the tile's maximum
#pragma unroll
      for (int j = 0; j < each; ++j) {
        score[i][j] = first_key + column + side * j < keys ? score[i][j] * scale : -INFINITY;
        local = fmaxf(local, score[i][j]);
      }
      const float newest = fmaxf(maximum[i], row_max(local));
      const float rescale = expf(maximum[i] - newest); // phase 2: the maximum moves, then the sum
      maximum[i] = newest;
      float local_sum = 0.0f;
#pragma unroll
      for (int j = 0; j < each; ++j) {
        score[i][j] = expf(score[i][j] - newest);
        local_sum += score[i][j];
      }
      total[i] = total[i] * rescale + row_sum(local_sum);
#pragma unroll
      for (int j = 0; j < each; ++j)
        sums[i][j] *= rescale;
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
  }

  for (int i = 0; i < each; ++i) {
    const int row = first_query + line * each + i;
    if (row >= queries)
      continue;
    const float inverse = total[i] > 0.0f ? 1.0f / total[i] : 0.0f; // no key at all: 0
    for (int d = 0; d < each; ++d)
      output[(plane * queries + row) * head_dim + column + side * d] = sums[i][d] * inverse;
  }
}

int main() {
  const int batch = 1, heads = 8, length = 1024;
  const size_t count = (size_t)batch * heads * length * head_dim;
  std::vector<float> host(count);
  for (float &x : host)
    x = (float)rand() / RAND_MAX - 0.5f;
  float *q, *k, *v, *o;
  for (float **buffer : {&q, &k, &v, &o})
    cudaMalloc(buffer, count * sizeof(float));
  for (float *buffer : {q, k, v})
    cudaMemcpy(buffer, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  const dim3 grid((length + tile - 1) / tile, heads, batch);
  flash_forward<<<grid, side * side>>>(q, k, v, o, heads, heads, length, length, 1.0f / sqrtf(head_dim));
  cudaMemcpy(host.data(), o, count * sizeof(float), cudaMemcpyDeviceToHost);
  printf("output[0] = %f: %s\n", host[0], cudaGetErrorString(cudaGetLastError()));
  for (float *buffer : {q, k, v, o})
    cudaFree(buffer);
}
