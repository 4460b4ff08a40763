// A warp a row, two passes over it: mean, then the sum of squared differences, by shuffles; as public trainers have it.
// operator: layernorm
// variant right = 0: PASS
// variant mean_of_squares = 1: FAIL error|nan phase=variance
// variant eps_missing = 2: FAIL error|nan phase=variance
// variant eps_outside_the_root = 3: FAIL error phase=variance
// variant bessel = 4: FAIL error|nan phase=variance
// variant bias_missing = 5: FAIL error phase=scale
// variant weight_of_the_row = 6: FAIL error|out_of_bounds
// variant tail_dropped_from_mean = 7: FAIL error phase=mean
// variant rstd_is_the_variance = 8: FAIL error phase=variance
// variant half_weight = 9: FAIL error|precision
//| kernel = "layernorm_forward"
//| [launch]
//| grid = ["ceil_div(N, 4)"]
//| block = [128]
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffff, value, offset);
  return value;
}

__global__ void layernorm_forward(float *__restrict__ out, float *__restrict__ mean, float *__restrict__ rstd,
                                  const float *__restrict__ inp, const float *__restrict__ weight,
                                  const float *__restrict__ bias, int N, int C) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= N)
    return;
  const float *x = inp + (size_t)row * C;
  float sum = 0.0f, squares = 0.0f;
  int end = VARIANT == 7 ? C / 4 * 4 : C;
  for (int j = lane; j < end; j += 32) {
    sum += x[j];
    squares += x[j] * x[j];
  }
  float m = warp_sum(sum) / C, variance;
  if (VARIANT == 1) {
    variance = warp_sum(squares) / C - m * m;
  } else {
    squares = 0.0f;
    for (int j = lane; j < C; j += 32)
      squares += (x[j] - m) * (x[j] - m);
    variance = warp_sum(squares) / (VARIANT == 4 ? C - 1 : C);
  }
  float s = VARIANT == 2   ? rsqrtf(variance)
            : VARIANT == 3 ? 1.0f / (sqrtf(variance) + 1e-5f)
                           : rsqrtf(variance + 1e-5f);
  if (lane == 0) {
    mean[row] = m;
    rstd[row] = VARIANT == 8 ? variance : s;
  }
  for (int j = lane; j < C; j += 32) {
    float w = weight[VARIANT == 6 ? row : j];
    if (VARIANT == 9)
      w = __half2float(__float2half(w));
    out[(size_t)row * C + j] = (x[j] - m) * s * w + (VARIANT == 5 ? 0.0f : bias[j]);
  }
}
