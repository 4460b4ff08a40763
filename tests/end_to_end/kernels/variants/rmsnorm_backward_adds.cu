// A block a row; both gradients are added to what is there, that of the weight atomically.
// operator: rmsnorm_backward
// variant right = 0: PASS
// variant overwrites = 1: FAIL error phase=sum
//| kernel = "rmsnorm_backward"
//| [launch]
//| grid = ["N"]
//| block = [64]
//| [options]
//| accumulate = "all"
#include <cuda_runtime.h>

__global__ void rmsnorm_backward(float *dinp, float *dweight, const float *dout, const float *inp, const float *weight,
                                 const float *rstd, int C) {
  __shared__ float partial[2];
  size_t row = (size_t)blockIdx.x * C;
  float s = rstd[blockIdx.x], products = 0.0f;
  for (int j = threadIdx.x; j < C; j += 64)
    products += dout[row + j] * weight[j] * inp[row + j] * s;
  for (int offset = 16; offset > 0; offset /= 2)
    products += __shfl_down_sync(0xffffffff, products, offset);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = products;
  __syncthreads();
  products = (partial[0] + partial[1]) / C;
  for (int j = threadIdx.x; j < C; j += 64) {
    float normal = inp[row + j] * s, gradient = s * (dout[row + j] * weight[j] - normal * products);
    dinp[row + j] = VARIANT == 1 ? gradient : dinp[row + j] + gradient;
    atomicAdd(&dweight[j], dout[row + j] * normal);
  }
}
