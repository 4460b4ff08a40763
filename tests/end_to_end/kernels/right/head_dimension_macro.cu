// The head dimension is a macro: the kernel is built anew for each value that a case needs.
// expect: PASS
//| kernel = "attention"
//| [launch]
//| grid = ["ceil_div(L, 32)", "H", "B"]
//| block = [32]
//| [defines]
//| HEAD_DIM = "D"
//| [limits]
//| D = [32, 64]
//| "D - Dv" = 0
//| "max(L, 160)" = 160
//| "max(S, 600)" = 600
#include <cuda_runtime.h>
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

__constant__ float log2e = 1.44269504f;

__global__ void attention(const float *q, const float *k, const float *v, float *o, int H, int Hkv, int L, int S,
                          float scale) {
  __shared__ float keys[8][HEAD_DIM], values[8][HEAD_DIM];
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int head = blockIdx.z * H + blockIdx.y, kv_head = blockIdx.z * Hkv + blockIdx.y / (H / Hkv);
  float mine[HEAD_DIM], acc[HEAD_DIM], m = -INFINITY, sum = 0;
  for (int d = 0; d < HEAD_DIM; ++d) {
    mine[d] = q[(size_t(head) * L + min(row, L - 1)) * HEAD_DIM + d];
    acc[d] = 0;
  }
  for (int first = 0; first < S; first += 8) {
    const int used = min(8, S - first);
    for (int i = threadIdx.x; i < used * HEAD_DIM; i += blockDim.x) {
      keys[i / HEAD_DIM][i % HEAD_DIM] = k[(size_t(kv_head) * S + first) * HEAD_DIM + i];
      values[i / HEAD_DIM][i % HEAD_DIM] = v[(size_t(kv_head) * S + first) * HEAD_DIM + i];
    }
    __syncthreads();
    for (int j = 0; j < used; ++j) {
      float s = 0;
      for (int d = 0; d < HEAD_DIM; ++d) s += mine[d] * keys[j][d];
      s *= scale;
      const float m_new = fmaxf(m, s), rescale = exp2f((m - m_new) * log2e), p = exp2f((s - m_new) * log2e);
      for (int e = 0; e < HEAD_DIM; ++e) acc[e] = acc[e] * rescale + p * values[j][e];
      sum = sum * rescale + p;
      m = m_new;
    }
    __syncthreads();
  }
  o += size_t(head) * L * HEAD_DIM;
  for (int e = 0; e < HEAD_DIM; ++e)
    if (row < L) o[size_t(row) * HEAD_DIM + e] = sum > 0 ? acc[e] / sum : 0;
}
