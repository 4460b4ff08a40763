// The textbook's safe softmax: one pass for the maximum, a second for the sum and the values; __expf does for both.
// expect: PASS
//| kernel = "attention_two_pass"
//| [launch]
//| grid = ["ceil_div(L, 64)", "B * H"]
//| block = [64]
//| [limits]
//| "max(L, 200)" = 200
//| "max(S, 600)" = 600
#include <cuda_runtime.h>

__device__ float score(const float *q, const float *k, int D, float scale) {
  float s = 0;
  for (int d = 0; d < D; ++d) s += q[d] * k[d];
  return s * scale;
}

__global__ void attention_two_pass(const float *q, const float *k, const float *v, float *o, int H, int Hkv, int L,
                                   int S, int D, int Dv, float scale) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, batch = blockIdx.y / H, head = blockIdx.y % H;
  if (row >= L) return;
  const int kv_head = batch * Hkv + head / (H / Hkv);
  const float *mine = q + (size_t(blockIdx.y) * L + row) * D, *keys = k + size_t(kv_head) * S * D;
  float *out = o + (size_t(blockIdx.y) * L + row) * Dv;
  float m = -INFINITY, sum = 0;
  for (int j = 0; j < S; ++j) m = fmaxf(m, score(mine, keys + size_t(j) * D, D, scale));
  for (int e = 0; e < Dv; ++e) out[e] = 0;
  for (int j = 0; j < S; ++j) {
    const float p = __expf(score(mine, keys + size_t(j) * D, D, scale) - m);
    sum += p;
    for (int e = 0; e < Dv; ++e) out[e] += p * v[(size_t(kv_head) * S + j) * Dv + e];
  }
  for (int e = 0; e < Dv; ++e) out[e] = S ? __fdividef(out[e], sum) : 0;
}
