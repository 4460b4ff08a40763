// Only rows that exist come to the barrier, while the others go on without returning.
// expect: FAIL barrier
//| kernel = "attention"
//| [launch]
//| grid = ["ceil_div(L, 32)", "H", "B"]
//| block = [32]
//| [limits]
//| "min(S, 1)" = 1
//| D = [32]
//| Dv = [32]
//| "H - Hkv" = 0
//| "max(L, 600)" = 600
//| "max(S, 600)" = 600
//| [[case]]
//| B = 1
//| H = 2
//| L = 100
//| S = 100
//| D = 32
#include <cuda_runtime.h>

__global__ void attention(const float *q, const float *k, const float *v, float *o, int L, int S, float scale) {
  __shared__ float keys[32];
  const int t = threadIdx.x, row = blockIdx.x * 32 + t;
  const int head = blockIdx.z * gridDim.y + blockIdx.y;
  q += (size_t(head) * L + min(row, L - 1)) * 32;
  float acc[32] = {}, m = -INFINITY, sum = 0;
  for (int j = 0; j < S; ++j) {
    __syncthreads();
    keys[t] = k[(size_t(head) * S + j) * 32 + t];
    if (row < L) {
      __syncthreads();  // found: barrier
      float s = 0;
      for (int d = 0; d < 32; ++d) s += q[d] * keys[d];
      s *= scale;
      const float m_new = fmaxf(m, s), rescale = expf(m - m_new), p = expf(s - m_new);
      for (int e = 0; e < 32; ++e) acc[e] = acc[e] * rescale + p * v[(size_t(head) * S + j) * 32 + e];
      sum = sum * rescale + p;
      m = m_new;
    }
  }
  for (int e = 0; e < 32; ++e)
    if (row < L) o[(size_t(head) * L + row) * 32 + e] = acc[e] / sum;
}
