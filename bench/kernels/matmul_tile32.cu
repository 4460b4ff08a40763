// C = A B for square matrices: 32 x 32 tiles in shared memory, one element a thread.
// grid (n / 32, n / 32), block 32 x 32
#include <cuda_runtime.h>

constexpr int tile = 32;

__global__ void matmul_tile32(const float *a, const float *b, float *c, int n) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < n; first += tile) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < tile; ++k)
      sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
