// Inclusive prefix sums of each block's 256 elements by Hillis and Steele: log2(256) rounds between barriers, two
// buffers in turn.
// grid (n / 256), block 256
#include <cuda_runtime.h>

constexpr int threads = 256;

__global__ void scan_shared(const float *in, float *out, int n) {
  __shared__ float buffer[2][threads];
  const int t = threadIdx.x, i = blockIdx.x * threads + t;
  int now = 0;
  buffer[now][t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int offset = 1; offset < threads; offset *= 2) {
    float x = buffer[now][t];
    if (t >= offset)
      x += buffer[now][t - offset];
    now = 1 - now;
    buffer[now][t] = x;
    __syncthreads();
  }
  if (i < n)
    out[i] = buffer[now][t];
}
