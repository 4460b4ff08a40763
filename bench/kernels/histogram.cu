// Histogram of 256 bins: counted with atomics in shared memory, then added to the whole with one atomic a bin.
// grid: fewer blocks than work (a grid-stride loop), block 256
#include <cuda_runtime.h>

constexpr int bins = 256;

__global__ void histogram(const unsigned char *data, unsigned *counts, int n) {
  __shared__ unsigned mine[bins];
  for (int i = threadIdx.x; i < bins; i += blockDim.x)
    mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[data[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x)
    atomicAdd(&counts[i], mine[i]);
}
