// Sum of an array: a grid-stride loop, shuffles within warps, one atomic a warp.
// grid: fewer blocks than work, block 256
#include <cuda_runtime.h>

__global__ void reduction(const float *in, float *total, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0)
    atomicAdd(total, sum);
}
