// Eight threads share a row, each with every eighth key and a softmax of its own; a second phase combines the parts.
// expect: PASS
//| kernel = "attention_split"
//| [launch]
//| grid = ["ceil_div(L, 8)", "H", "B"]
//| block = [64]
//| [limits]
//| "max(Dv, 64)" = 64
//| "max(L, 300)" = 300
//| "max(S, 1100)" = 1100
#include <cuda_runtime.h>

constexpr int parts = 8, rows = 8, widest = 64;

__global__ void attention_split(const float *q, const float *k, const float *v, float *o, int H, int Hkv, int L, int S,
                                int D, int Dv, float scale) {
  __shared__ float m_of[rows][parts], sum_of[rows][parts], acc_of[rows][parts][widest];
  const int part = threadIdx.x % parts, slot = threadIdx.x / parts, row = blockIdx.x * rows + slot;
  const int head = blockIdx.z * H + blockIdx.y, kv_head = blockIdx.z * Hkv + blockIdx.y / (H / Hkv);
  q += (size_t(head) * L + min(row, L - 1)) * D;
  k += size_t(kv_head) * S * D;
  v += size_t(kv_head) * S * Dv;
  float *acc = acc_of[slot][part], m = -INFINITY, sum = 0;
  for (int e = 0; e < Dv; ++e) acc[e] = 0;
  for (int j = part; j < S; j += parts) {
    float s = 0;
    for (int d = 0; d < D; ++d) s = fmaf(q[d], k[size_t(j) * D + d], s);
    const float m_new = fmaxf(m, s * scale), rescale = expf(m - m_new), p = expf(s * scale - m_new);
    for (int e = 0; e < Dv; ++e) acc[e] = acc[e] * rescale + p * v[size_t(j) * Dv + e];
    sum = sum * rescale + p;
    m = m_new;
  }
  m_of[slot][part] = m;
  sum_of[slot][part] = sum;
  __syncthreads();
  if (row >= L) return;
  float m_all = -INFINITY, sum_all = 0;
  for (int p = 0; p < parts; ++p) m_all = fmaxf(m_all, m_of[slot][p]);
  // A part without keys has the maximum -inf and weighs nothing, unless no part has any.
  for (int p = 0; p < parts; ++p) sum_all += sum_of[slot][p] > 0 ? sum_of[slot][p] * expf(m_of[slot][p] - m_all) : 0;
  for (int e = part; e < Dv; e += parts) {
    float x = 0;
    for (int p = 0; p < parts; ++p)
      if (sum_of[slot][p] > 0) x += acc_of[slot][p][e] * expf(m_of[slot][p] - m_all);
    o[(size_t(head) * L + row) * Dv + e] = sum_all > 0 ? x / sum_all : 0;
  }
}
