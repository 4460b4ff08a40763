// A block a row: the weighed sum through warp shuffles and shared memory.
// operator: softmax_backward
// variant right = 0: PASS
// variant sum_missing = 1: FAIL error phase=sum
// variant sum_of_gradient = 2: FAIL error phase=sum
// variant first_warp_sums = 3: FAIL error phase=sum
// variant output_forgotten = 4: FAIL error phase=scale
// variant tail_dropped = 5: FAIL error phase=sum
// variant sign_turned = 6: FAIL error phase=sum
// variant no_barrier = 7: FAIL race
//| kernel = "softmax_backward"
//| [launch]
//| grid = ["N"]
//| block = [256]
#include <cuda_runtime.h>

__global__ void softmax_backward(float *dinp, const float *dout, const float *out, int N, int C) {
  __shared__ float partial[8];
  const float *dy = dout + (size_t)blockIdx.x * C, *y = out + (size_t)blockIdx.x * C;
  float sum = 0.0f;
  int end = VARIANT == 5 ? C / 8 * 8 : C;
  for (int j = threadIdx.x; j < end; j += blockDim.x)
    sum += VARIANT == 2 ? dy[j] : dy[j] * y[j];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = sum;
#if VARIANT != 7
  __syncthreads();
#endif
  sum = 0.0f;
  for (int w = 0; w < (VARIANT == 3 ? 1 : 8); ++w)
    sum += partial[w];
  if (VARIANT == 1)
    sum = 0.0f;
  if (VARIANT == 6)
    sum = -sum;
  for (int j = threadIdx.x; j < C; j += blockDim.x)
    dinp[(size_t)blockIdx.x * C + j] = VARIANT == 4 ? dy[j] - sum : y[j] * (dy[j] - sum);
}
