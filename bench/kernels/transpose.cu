// Transpose through a tile of shared memory whose rows are padded to 33: no bank conflicts, whole sectors both ways.
// grid (width / 32, height / 32), block 32 x 8
#include <cuda_runtime.h>

constexpr int tile = 32, rows = 8;

__global__ void transpose(const float *in, float *out, int width, int height) {
  __shared__ float held[tile][tile + 1];
  int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
  for (int j = 0; j < tile; j += rows)
    held[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * tile + threadIdx.x;
  y = blockIdx.x * tile + threadIdx.y;
  for (int j = 0; j < tile; j += rows)
    out[(y + j) * height + x] = held[threadIdx.x][threadIdx.y + j];
}
