// A block a row: maximum, sum and division, each reduced in shared memory by halves.
// operator: softmax
// variant right = 0: PASS
// variant no_maximum = 1: FAIL nan phase=maximum
// variant maximum_from_zero = 2: FAIL nan phase=maximum
// variant tail_dropped_from_sum = 3: FAIL error phase=sum
// variant first_warp_sums = 4: FAIL error phase=sum
// variant never_divided = 5: FAIL error phase=scale
// variant rows_too_far_apart = 6: FAIL out_of_bounds|crash
// variant tail_unwritten = 7: FAIL unwritten phase=indexing
// variant base_two = 8: FAIL error phase=scale
//| kernel = "softmax"
//| [launch]
//| grid = ["N"]
//| block = [128]
#include <cuda_runtime.h>
#include <math_constants.h>

constexpr int threads = 128;

__device__ float reduce(float value, float *shared, bool isMaximum) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = (VARIANT == 4 && !isMaximum ? 32 : threads) / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      float other = shared[threadIdx.x + half];
      shared[threadIdx.x] = isMaximum ? fmaxf(shared[threadIdx.x], other) : shared[threadIdx.x] + other;
    }
    __syncthreads();
  }
  float result = shared[0];
  __syncthreads();
  return result;
}

__global__ void softmax(float *out, const float *inp, int N, int C) {
  __shared__ float shared[threads];
  const float *x = inp + (size_t)blockIdx.x * (VARIANT == 6 ? C + 1 : C);
  float *y = out + (size_t)blockIdx.x * C;
  float maximum = VARIANT == 2 ? 0.0f : -CUDART_INF_F;
  for (int j = threadIdx.x; j < C; j += threads)
    maximum = fmaxf(maximum, x[j]);
  maximum = reduce(maximum, shared, true);
  if (VARIANT == 1)
    maximum = 0.0f;
  float sum = 0.0f;
  int end = VARIANT == 3 ? C / 4 * 4 : C;
  for (int j = threadIdx.x; j < end; j += threads)
    sum += VARIANT == 8 ? exp2f(x[j] - maximum) : expf(x[j] - maximum);
  sum = reduce(sum, shared, false);
  int last = VARIANT == 7 ? C / 4 * 4 : C;
  for (int j = threadIdx.x; j < last; j += threads) {
    float e = VARIANT == 8 ? exp2f(x[j] - maximum) : expf(x[j] - maximum);
    y[j] = VARIANT == 5 ? e : e / sum;
  }
}
