// A thread four rows of a column, b as the weight of a layer (N, K); bias, exact gelu and residual on the way out.
// operator: matmul
// variant right = 0: PASS
// variant gelu_by_tanh = 1: FAIL error phase=activation
// variant bias_of_the_row = 2: FAIL error|out_of_bounds
// variant gelu_before_bias = 3: FAIL error phase=activation
// variant residual_before_gelu = 4: FAIL error phase=residual
// variant residual_forgotten = 5: FAIL error phase=residual
//| kernel = "linear_gelu"
//| [launch]
//| grid = ["ceil_div(N, 64)", "ceil_div(M, 4)"]
//| block = [64]
//| [options]
//| transpose_b = "yes"
//| epilogue = "bias-gelu-residual"
#include <cuda_runtime.h>

__device__ float gelu(float x) {
  if (VARIANT == 1)
    return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
  return 0.5f * x * (1.0f + erff(x * 0.7071067812f));
}

__global__ void linear_gelu(float *__restrict__ out, const float *__restrict__ inp, const float *__restrict__ weight,
                            const float *__restrict__ bias, const float *__restrict__ residual, int m, int n, int k) {
  int column = blockIdx.x * 64 + threadIdx.x, first = blockIdx.y * 4;
  if (column >= n)
    return;
  float sum[4] = {};
  for (int i = 0; i < k; ++i) {
    float w = weight[(size_t)column * k + i];
    for (int r = 0; r < 4; ++r)
      if (first + r < m)
        sum[r] += inp[(size_t)(first + r) * k + i] * w;
  }
  for (int r = 0; r < 4 && first + r < m; ++r) {
    size_t at = (size_t)(first + r) * n + column;
    float b = bias[VARIANT == 2 ? first + r : column], more = VARIANT == 5 ? 0.0f : residual[at];
    if (VARIANT == 3)
      out[at] = gelu(sum[r]) + b + more;
    else if (VARIANT == 4)
      out[at] = gelu(sum[r] + b + more);
    else
      out[at] = gelu(sum[r] + b) + more;
  }
}
