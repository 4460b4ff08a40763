// Layer norm, backward: a warp a row for the gradient of the input; those of weight and bias gather in shared memory by
// atomics, then one atomic a column adds them to the whole. Warps stride over rows.
// grid: fewer blocks than rows, block 256, dynamic shared memory 2 * columns floats
#include <cuda_runtime.h>

__device__ float warp_sum(float x) {
  for (int offset = 16; offset > 0; offset /= 2)
    x += __shfl_xor_sync(0xffffffff, x, offset);
  return x;
}

__global__ void layernorm_backward(const float *__restrict__ in, const float *__restrict__ weight,
                                   const float *__restrict__ means, const float *__restrict__ rstds,
                                   const float *__restrict__ gradient, float *__restrict__ in_gradient,
                                   float *__restrict__ weight_gradient, float *__restrict__ bias_gradient, int rows,
                                   int columns) {
  extern __shared__ float shared[];
  float *weights = shared, *biases = shared + columns;
  for (int i = threadIdx.x; i < 2 * columns; i += blockDim.x)
    shared[i] = 0.0f;
  __syncthreads();

  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  for (int row = blockIdx.x * warps + threadIdx.x / 32; row < rows; row += gridDim.x * warps) {
    const float *x = in + (size_t)row * columns, *g = gradient + (size_t)row * columns;
    const float mean = means[row], rstd = rstds[row];
    float sum = 0.0f, projected = 0.0f;
    for (int i = lane; i < columns; i += 32) {
      const float normed = (x[i] - mean) * rstd, d = g[i] * weight[i];
      sum += d;
      projected += d * normed;
    }
    sum = warp_sum(sum) / columns;
    projected = warp_sum(projected) / columns;
    for (int i = lane; i < columns; i += 32) {
      const float normed = (x[i] - mean) * rstd;
      atomicAdd(&weights[i], g[i] * normed);
      atomicAdd(&biases[i], g[i]);
      in_gradient[(size_t)row * columns + i] = (g[i] * weight[i] - sum - normed * projected) * rstd;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    atomicAdd(&weight_gradient[i], weights[i]);
    atomicAdd(&bias_gradient[i], biases[i]);
  }
}
