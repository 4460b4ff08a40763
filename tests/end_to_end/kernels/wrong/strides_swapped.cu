// Key rows are stepped by Dv and value rows by D.
// expect: FAIL error|nan|out_of_bounds
//| kernel = "attention"
//| [launch]
//| grid = ["ceil_div(L, 32)", "H", "B"]
//| block = [32]
//| [limits]
//| "max(L, 160)" = 160
//| "max(S, 600)" = 600
#include <cuda_runtime.h>

__global__ void attention(const float *q, const float *k, const float *v, float *o, int H, int Hkv, int L, int S,
                          int D, int Dv, float scale) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= L) return;
  const int head = blockIdx.z * H + blockIdx.y, kv_head = blockIdx.z * Hkv + blockIdx.y / (H / Hkv);
  q += (size_t(head) * L + row) * D;
  k += size_t(kv_head) * S * D;
  v += size_t(kv_head) * S * Dv;
  o += (size_t(head) * L + row) * Dv;
  for (int e = 0; e < Dv; ++e) o[e] = 0;
  float m = -INFINITY, sum = 0;
  for (int j = 0; j < S; ++j) {
    float s = 0;
    for (int d = 0; d < D; ++d) s += q[d] * k[size_t(j) * Dv + d];  // found: out_of_bounds
    s *= scale;
    const float m_new = fmaxf(m, s), rescale = expf(m - m_new), p = expf(s - m_new);
    for (int e = 0; e < Dv; ++e) o[e] = o[e] * rescale + p * v[size_t(j) * D + e];
    sum = sum * rescale + p;
    m = m_new;
  }
  for (int e = 0; e < Dv; ++e) o[e] = sum > 0 ? o[e] / sum : 0;
}
