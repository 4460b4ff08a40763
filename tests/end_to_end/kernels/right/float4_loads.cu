// Reads and writes four floats at a time; takes head dimensions that are multiples of four.
// expect: PASS
//| kernel = "attention4"
//| [launch]
//| grid = ["ceil_div(L, 32)", "H", "B"]
//| block = [32]
//| [limits]
//| "D % 4" = 0
//| "Dv % 4" = 0
//| "max(Dv, 64)" = 64
//| "max(L, 300)" = 300
//| "max(S, 1100)" = 1100
#include <cuda_runtime.h>

__device__ __forceinline__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

__global__ void attention4(const float *q, const float *k, const float *v, float *o, int H, int Hkv, int L, int S,
                           int D, int Dv, float scale) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= L) return;
  const int head = blockIdx.z * H + blockIdx.y, kv_head = blockIdx.z * Hkv + blockIdx.y / (H / Hkv);
  const float4 *q4 = reinterpret_cast<const float4 *>(q + (size_t(head) * L + row) * D);
  const float4 *k4 = reinterpret_cast<const float4 *>(k + size_t(kv_head) * S * D);
  const float4 *v4 = reinterpret_cast<const float4 *>(v + size_t(kv_head) * S * Dv);
  float4 *o4 = reinterpret_cast<float4 *>(o + (size_t(head) * L + row) * Dv);
  float4 acc[16];
  for (int e = 0; e < 16; ++e) acc[e] = make_float4(0, 0, 0, 0);
  float m = -INFINITY, sum = 0;
  for (int j = 0; j < S; ++j, k4 += D / 4, v4 += Dv / 4) {
    float s = 0;
    for (int d = 0; d < D / 4; ++d) s += dot(q4[d], k4[d]);
    s *= scale;
    const float m_new = fmaxf(m, s), rescale = expf(m - m_new), p = expf(s - m_new);
    for (int e = 0; e < Dv / 4; ++e) {
      const float4 x = v4[e];
      acc[e] = make_float4(acc[e].x * rescale + p * x.x, acc[e].y * rescale + p * x.y, acc[e].z * rescale + p * x.z,
                           acc[e].w * rescale + p * x.w);
    }
    sum = sum * rescale + p;
    m = m_new;
  }
  const float norm = sum > 0 ? 1 / sum : 0;
  for (int e = 0; e < Dv / 4; ++e)
    o4[e] = make_float4(acc[e].x * norm, acc[e].y * norm, acc[e].z * norm, acc[e].w * norm);
}
