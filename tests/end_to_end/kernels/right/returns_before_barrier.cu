// Threads beyond the last row return before the barrier, which CUDA allows: those that left no longer count.
// expect: PASS
//| kernel = "attention"
//| [launch]
//| grid = ["ceil_div(L, 32)", "H", "B"]
//| block = [32]
//| [limits]
//| D = [64]
//| Dv = [64]
//| "max(L, 160)" = 160
//| "max(S, 600)" = 600
#include <cuda_runtime.h>

__global__ void attention(const float *q, const float *k, const float *v, float *o, int H, int Hkv, int L, int S,
                          float scale) {
  __shared__ float key[64], value[64];
  const int row = blockIdx.x * blockDim.x + threadIdx.x, threads = min(int(blockDim.x), L - int(blockIdx.x * blockDim.x));
  if (row >= L) return;
  const int head = blockIdx.z * H + blockIdx.y, kv_head = blockIdx.z * Hkv + blockIdx.y / (H / Hkv);
  q += (size_t(head) * L + row) * 64;
  float acc[64] = {}, m = -INFINITY, sum = 0;
  for (int j = 0; j < S; ++j) {
    for (int d = threadIdx.x; d < 64; d += threads) {
      key[d] = k[(size_t(kv_head) * S + j) * 64 + d];
      value[d] = v[(size_t(kv_head) * S + j) * 64 + d];
    }
    __syncthreads();
    float s = 0;
    for (int d = 0; d < 64; ++d) s += q[d] * key[d];
    s *= scale;
    const float m_new = fmaxf(m, s), rescale = expf(m - m_new), p = expf(s - m_new);
    for (int e = 0; e < 64; ++e) acc[e] = acc[e] * rescale + p * value[e];
    sum = sum * rescale + p;
    m = m_new;
    __syncthreads();
  }
  for (int e = 0; e < 64; ++e) o[(size_t(head) * L + row) * 64 + e] = sum > 0 ? acc[e] / sum : 0;
}
