// Key and value tiles in one extern __shared__ array, cut up by hand; its size follows from the case.
// expect: PASS
//| kernel = "attention_dynamic"
//| [launch]
//| grid = ["ceil_div(L, 32)", "H", "B"]
//| block = [32]
//| shared = "4 * 16 * (D + Dv)"
//| [limits]
//| "max(Dv, 96)" = 96
//| "max(L, 300)" = 300
//| "max(S, 1100)" = 1100
#include <cuda_runtime.h>

constexpr int tile = 16, widest = 96;
extern __shared__ char memory[];

__global__ void attention_dynamic(const float *q, const float *k, const float *v, float *o, int H, int Hkv, int L,
                                  int S, int D, int Dv, float scale) {
  float *keys = reinterpret_cast<float *>(memory), *values = keys + tile * D;
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int head = blockIdx.z * H + blockIdx.y, kv_head = blockIdx.z * Hkv + blockIdx.y / (H / Hkv);
  q += (size_t(head) * L + min(row, L - 1)) * D;
  k += size_t(kv_head) * S * D;
  v += size_t(kv_head) * S * Dv;
  float acc[widest], m = -INFINITY, sum = 0;
  for (int e = 0; e < widest; ++e) acc[e] = 0;
  for (int first = 0; first < S; first += tile) {
    const int used = min(tile, S - first);
    for (int i = threadIdx.x; i < used * D; i += blockDim.x) keys[i] = k[size_t(first) * D + i];
    for (int i = threadIdx.x; i < used * Dv; i += blockDim.x) values[i] = v[size_t(first) * Dv + i];
    __syncthreads();
    for (int j = 0; j < used; ++j) {
      float s = 0;
      for (int d = 0; d < D; ++d) s += q[d] * keys[j * D + d];
      s *= scale;
      const float m_new = fmaxf(m, s), rescale = expf(m - m_new), p = expf(s - m_new);
      for (int e = 0; e < Dv; ++e) acc[e] = acc[e] * rescale + p * values[j * Dv + e];
      sum = sum * rescale + p;
      m = m_new;
    }
    __syncthreads();
  }
  if (row < L)
    for (int e = 0; e < Dv; ++e) o[(size_t(head) * L + row) * Dv + e] = sum > 0 ? acc[e] / sum : 0;
}
