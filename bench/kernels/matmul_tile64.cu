// C = A B for square matrices: a block of 256 threads makes 64 x 64 of C, 4 x 4 a thread in registers, 16 deep at a time.
// grid (n / 64, n / 64), block 256
#include <cuda_runtime.h>

constexpr int tile = 64, depth = 16, each = 4;

__global__ void __launch_bounds__(256) matmul_tile64(const float *__restrict__ a, const float *__restrict__ b,
                                                     float *__restrict__ c, int n) {
  __shared__ float a_tile[depth][tile + 4]; // transposed: a thread reads its four rows side by side
  __shared__ float b_tile[depth][tile];
  const int first_row = blockIdx.y * tile, first_column = blockIdx.x * tile;
  const int row = threadIdx.x / 16 * each, column = threadIdx.x % 16 * each;
  float sum[each][each] = {};
  for (int first = 0; first < n; first += depth) {
    for (int i = threadIdx.x; i < tile * depth; i += blockDim.x) {
      a_tile[i % depth][i / depth] = a[(first_row + i / depth) * n + first + i % depth];
      b_tile[i / tile][i % tile] = b[(first + i / tile) * n + first_column + i % tile];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      float left[each], right[each];
#pragma unroll
      for (int i = 0; i < each; ++i) {
        left[i] = a_tile[k][row + i];
        right[i] = b_tile[k][column + i];
      }
#pragma unroll
      for (int i = 0; i < each; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j)
          sum[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < each; ++i)
#pragma unroll
    for (int j = 0; j < each; ++j)
      c[(first_row + row + i) * n + first_column + column + j] = sum[i][j];
}
