// One launch: the first N blocks have a row each, the others 128 columns, one a thread.
// operator: rmsnorm_backward
// variant right = 0: PASS
// variant as_a_layer_normalisation = 1: FAIL error
// variant deviation_constant = 2: FAIL error phase=variance|scale
// variant rstd_forgotten = 3: FAIL error phase=scale
// variant weight_forgotten = 4: FAIL error phase=scale
// variant mean_over_rows = 5: FAIL error phase=scale
// variant input_not_normalised = 6: FAIL error phase=scale
// variant only_first_row = 7: FAIL error phase=sum
//| kernel = "rmsnorm_backward"
//| [launch]
//| grid = ["N + ceil_div(C, 128)"]
//| block = [128]
#include <cuda_runtime.h>

__device__ float block_sum(float value, float *shared) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half)
      shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  value = shared[0];
  __syncthreads();
  return value;
}

__global__ void rmsnorm_backward(float *dx, float *dw, const float *dy, const float *x, const float *w,
                                 const float *rstd, int N, int D) {
  __shared__ float shared[128];
  if (blockIdx.x < N) {
    size_t row = (size_t)blockIdx.x * D;
    float s = rstd[blockIdx.x], products = 0.0f, gradients = 0.0f;
    for (int j = threadIdx.x; j < D; j += 128) {
      float g = dy[row + j] * (VARIANT == 4 ? 1.0f : w[j]);
      products += g * x[row + j] * s;
      gradients += g;
    }
    products = block_sum(products, shared) / D;
    gradients = VARIANT == 1 ? block_sum(gradients, shared) / D : 0.0f;
    if (VARIANT == 2)
      products = 0.0f;
    for (int j = threadIdx.x; j < D; j += 128) {
      float g = dy[row + j] * (VARIANT == 4 ? 1.0f : w[j]);
      dx[row + j] = (g - gradients - x[row + j] * s * products) * (VARIANT == 3 ? 1.0f : s);
    }
    return;
  }
  int j = (blockIdx.x - N) * 128 + threadIdx.x;
  if (j >= D)
    return;
  float sum = 0.0f;
  for (int r = 0; r < (VARIANT == 7 ? 1 : N); ++r)
    sum += dy[(size_t)r * D + j] * x[(size_t)r * D + j] * (VARIANT == 6 ? 1.0f : rstd[r]);
  dw[j] = VARIANT == 5 ? sum / N : sum;
}
