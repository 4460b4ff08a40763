// Writes a row past its shared tile.
// expect: FAIL error|nan|out_of_bounds|crash
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

// A block takes 32 rows; its threads bring 32 keys at a time into shared memory.
__global__ void attention(const float *q, const float *k, const float *v, float *o, int L, int S, float scale) {
  __shared__ float keys[32][33], values[32][33];
  const int t = threadIdx.x, row = blockIdx.x * 32 + t;
  const int head = blockIdx.z * gridDim.y + blockIdx.y;
  q += (size_t(head) * L + min(row, L - 1)) * 32;
  k += size_t(head) * S * 32;
  v += size_t(head) * S * 32;
  float acc[32] = {}, m = -INFINITY, sum = 0;
  for (int first = 0; first < S; first += 32) {
    for (int j = 0; j < 32; ++j) {
      keys[j][t] = first + j < S ? k[size_t(first + j) * 32 + t] : 0;
      values[j][t] = first + j < S ? v[size_t(first + j) * 32 + t] : 0;
    }
    keys[33 + t % 8][t] = 1e3f; // falls into the values; found: out_of_bounds
    __syncthreads(); // filled
    for (int j = 0; j < min(32, S - first); ++j) {
      float s = 0;
      for (int d = 0; d < 32; ++d) s += q[d] * keys[j][d];
      s *= scale;
      const float m_new = fmaxf(m, s), rescale = expf(m - m_new), p = expf(s - m_new);
      for (int e = 0; e < 32; ++e) acc[e] = acc[e] * rescale + p * values[j][e];
      sum = sum * rescale + p;
      m = m_new;
    }
    __syncthreads(); // used up
  }
  o += size_t(head) * L * 32;
  for (int e = 0; e < 32; ++e)
    if (row < L) o[size_t(row) * 32 + e] = sum > 0 ? acc[e] / sum : 0;
}
