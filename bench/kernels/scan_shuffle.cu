// Inclusive prefix sums of each block's 256 elements: by shuffles within each warp, then the warps' totals likewise.
// grid (n / 256), block 256
#include <cuda_runtime.h>

__device__ float warp_scan(float x, int lane) {
  for (int offset = 1; offset < 32; offset *= 2) {
    const float before = __shfl_up_sync(0xffffffff, x, offset);
    if (lane >= offset)
      x += before;
  }
  return x;
}

__global__ void scan_shuffle(const float *in, float *out, int n) {
  __shared__ float totals[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float x = warp_scan(i < n ? in[i] : 0.0f, lane);
  if (lane == 31)
    totals[warp] = x;
  __syncthreads();
  if (warp == 0)
    totals[lane] = warp_scan(lane < blockDim.x / 32 ? totals[lane] : 0.0f, lane);
  __syncthreads();
  if (warp > 0)
    x += totals[warp - 1];
  if (i < n)
    out[i] = x;
}
