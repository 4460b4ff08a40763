// Softmax over the rows of a matrix: a block a row, maximum and sum by shuffles within warps, then through shared memory.
// grid (rows), block 256
#include <cmath>
#include <cuda_runtime.h>

__device__ float warp_max(float x) {
  for (int offset = 16; offset > 0; offset /= 2)
    x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, offset));
  return x;
}
__device__ float warp_sum(float x) {
  for (int offset = 16; offset > 0; offset /= 2)
    x += __shfl_xor_sync(0xffffffff, x, offset);
  return x;
}

__global__ void softmax(const float *__restrict__ in, float *__restrict__ out, int columns) {
  __shared__ float partial[32];
  const float *x = in + (size_t)blockIdx.x * columns;
  float *y = out + (size_t)blockIdx.x * columns;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

  float maximum = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    maximum = fmaxf(maximum, x[i]);
  maximum = warp_max(maximum);
  if (lane == 0)
    partial[warp] = maximum;
  __syncthreads();
  maximum = warp_max(lane < warps ? partial[lane] : -INFINITY);
  __syncthreads();

  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float e = expf(x[i] - maximum);
    y[i] = e;
    sum += e;
  }
  sum = warp_sum(sum);
  if (lane == 0)
    partial[warp] = sum;
  __syncthreads();
  sum = warp_sum(lane < warps ? partial[lane] : 0.0f);

  const float inverse = 1.0f / sum;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[i] *= inverse;
}
