// A warp a row; the gradients of weight and bias are added up over a block's rows in shared memory, then atomically.
// operator: layernorm_backward
// variant right = 0: PASS
// variant mean_term_missing = 1: FAIL error phase=mean
// variant deviation_constant = 2: FAIL error phase=variance
// variant rstd_forgotten = 3: FAIL error phase=scale
// variant weight_forgotten = 4: FAIL error phase=scale
// variant not_added = 5: FAIL error|not_repeatable phase=sum
// variant input_not_normalised = 6: FAIL error phase=scale
// variant sums_not_divided = 7: FAIL error phase=mean|variance
//| kernel = "layernorm_backward"
//| [launch]
//| grid = ["ceil_div(N, 4)"]
//| block = [128]
//| shared = "8 * C"
//| [options]
//| accumulate = "weights"
//| [limits]
//| "ceil_div(C, 4096)" = 1
#include <cuda_runtime.h>

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffff, value, offset);
  return value;
}

__global__ void layernorm_backward(float *dinp, float *dweight, float *dbias, const float *dout, const float *inp,
                                   const float *weight, const float *mean, const float *rstd, int N, int C) {
  extern __shared__ float shared[];
  float *weight_sums = shared, *bias_sums = shared + C;
  for (int j = threadIdx.x; j < 2 * C; j += blockDim.x)
    shared[j] = 0.0f;
  __syncthreads();
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row < N) {
    const float *dy = dout + (size_t)row * C, *x = inp + (size_t)row * C;
    float m = mean[row], s = rstd[row], gradients = 0.0f, products = 0.0f;
    for (int j = lane; j < C; j += 32) {
      float g = dy[j] * (VARIANT == 4 ? 1.0f : weight[j]);
      gradients += g;
      products += g * (x[j] - m) * s;
    }
    gradients = warp_sum(gradients) / (VARIANT == 7 ? 1 : C);
    products = warp_sum(products) / (VARIANT == 7 ? 1 : C);
    if (VARIANT == 1)
      gradients = 0.0f;
    if (VARIANT == 2)
      products = 0.0f;
    for (int j = lane; j < C; j += 32) {
      float normal = (x[j] - m) * s, g = dy[j] * (VARIANT == 4 ? 1.0f : weight[j]);
      dinp[(size_t)row * C + j] = (g - gradients - normal * products) * (VARIANT == 3 ? 1.0f : s);
      atomicAdd(&weight_sums[j], dy[j] * (VARIANT == 6 ? x[j] : normal));
      atomicAdd(&bias_sums[j], dy[j]);
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < C; j += blockDim.x) {
    if (VARIANT == 5) {
      dweight[j] = weight_sums[j];
      dbias[j] = bias_sums[j];
    } else {
      atomicAdd(&dweight[j], weight_sums[j]);
      atomicAdd(&dbias[j], bias_sums[j]);
    }
  }
}
