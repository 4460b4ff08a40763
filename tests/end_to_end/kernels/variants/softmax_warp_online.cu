// A warp a row, online: each lane keeps a maximum and a sum of its own, which meet by shuffles.
// operator: softmax
// variant right = 0: PASS
// variant older_sum_kept = 1: FAIL error phase=sum
// variant sums_meet_unscaled = 2: FAIL error phase=sum
// variant empty_rows_zero = 3: FAIL nan phase=exponentials
// variant lane_starts_with_nan = 4: FAIL nan phase=maximum|sum
// variant in_half = 5: FAIL precision|error
//| kernel = "softmax"
//| [launch]
//| grid = ["ceil_div(N, 4)"]
//| block = [32, 4]
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math_constants.h>

__global__ void softmax(const float *__restrict__ input, float *__restrict__ output, int num_rows, int num_cols) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= num_rows)
    return;
  const float *x = input + (long long)row * num_cols;
  float maximum = -CUDART_INF_F, sum = 0.0f;
  bool nan = false;
  for (int j = threadIdx.x; j < num_cols; j += 32) {
    float v = x[j];
    nan = nan || isnan(v);
    if (v > maximum) {
      sum = VARIANT == 1 ? sum : sum * (maximum == -CUDART_INF_F ? 0.0f : expf(maximum - v));
      maximum = v;
    }
    if (VARIANT == 4 || maximum != -CUDART_INF_F)
      sum += expf(v - maximum);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    float otherMaximum = __shfl_xor_sync(0xffffffff, maximum, offset);
    float otherSum = __shfl_xor_sync(0xffffffff, sum, offset);
    float larger = fmaxf(maximum, otherMaximum);
    if (VARIANT == 2)
      sum += otherSum;
    else if (larger != -CUDART_INF_F)
      sum = sum * expf(maximum - larger) + otherSum * expf(otherMaximum - larger);
    maximum = larger;
  }
  nan = __any_sync(0xffffffff, nan);
  for (int j = threadIdx.x; j < num_cols; j += 32) {
    float y = expf(x[j] - maximum) / sum;
    if (VARIANT == 3 && sum == 0.0f)
      y = 0.0f;
    else if (nan || sum == 0.0f)
      y = CUDART_NAN_F;
    output[(long long)row * num_cols + j] = VARIANT == 5 ? __half2float(__float2half(y)) : y;
  }
}
