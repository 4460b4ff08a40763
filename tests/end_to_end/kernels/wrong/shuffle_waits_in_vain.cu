// A warp computes a row, but lanes without a key do not come to the shuffle that finds the maximum, though its mask names
// them: where S is no multiple of 32, the others wait for them for ever.
// expect: FAIL barrier
//| kernel = "attention_warp"
//| [launch]
//| grid = ["ceil_div(L, 4)", "H", "B"]
//| block = [32, 4]
//| [limits]
//| "max(H, 16)" = 16
//| "max(Dv, 256)" = 256
//| "max(L, 70)" = 70
//| "max(S, 260)" = 260
#include <cuda_runtime.h>

constexpr unsigned everyone = 0xffffffffu;
constexpr int columns = 8; // of 32 lanes each

__device__ float warp_max(float x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(everyone, x, step));
  return x;
}

__device__ float warp_sum(float x) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(everyone, x, step);
  return x;
}

__global__ void __launch_bounds__(128) attention_warp(const float *__restrict__ q, const float *__restrict__ k,
                                                      const float *__restrict__ v, float *__restrict__ o, int H,
                                                      int Hkv, int L, int S, int D, int Dv, float scale) {
  const int lane = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
  const int head = blockIdx.z * H + blockIdx.y, kv_head = blockIdx.z * Hkv + blockIdx.y / (H / Hkv);
  q += (size_t(head) * L + min(row, L - 1)) * D;
  k += size_t(kv_head) * S * D;
  v += size_t(kv_head) * S * Dv;
  float acc[columns] = {}, m = -INFINITY, sum = 0;
  for (int first = 0; first < S; first += 32) {
    float s = -INFINITY, maximum = -INFINITY;
    if (first + lane < S) {
      s = 0;
      for (int d = 0; d < D; ++d) s += q[d] * __ldg(&k[size_t(first + lane) * D + d]);
      s *= scale;
      maximum = warp_max(s);
    }
    const float m_new = fmaxf(m, maximum), rescale = expf(m - m_new), p = expf(s - m_new);
    sum = sum * rescale + warp_sum(p);
    m = m_new;
#pragma unroll
    for (int c = 0; c < columns; ++c) acc[c] *= rescale;
    for (int j = 0; j < min(32, S - first); ++j) {
      const float weight = __shfl_sync(everyone, p, j);
#pragma unroll
      for (int c = 0; c < columns; ++c)
        if (c * 32 + lane < Dv) acc[c] += weight * v[size_t(first + j) * Dv + c * 32 + lane];
    }
  }
  if (row >= L) return;
#pragma unroll
  for (int c = 0; c < columns; ++c)
    if (c * 32 + lane < Dv) o[(size_t(head) * L + row) * Dv + c * 32 + lane] = sum > 0 ? acc[c] / sum : 0;
}
