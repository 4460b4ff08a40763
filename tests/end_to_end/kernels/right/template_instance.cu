// A template over tile height and head dimension; the port file names one instance of it.
// expect: PASS
//| kernel = "attention<16, 64>"
//| [launch]
//| grid = ["ceil_div(L, 16)", "H", "B"]
//| block = [16]
//| [limits]
//| D = [64]
//| Dv = [64]
//| "max(L, 300)" = 300
//| "max(S, 1100)" = 1100
#include <cuda_runtime.h>

template <int Rows, int HeadDim>
__global__ void __launch_bounds__(Rows) attention(const float *__restrict__ q, const float *__restrict__ k,
                                                  const float *__restrict__ v, float *__restrict__ o, int H, int Hkv,
                                                  int L, int S, float scale) {
  static_assert(HeadDim % 4 == 0, "the head dimension is taken in fours");
  const int row = blockIdx.x * Rows + threadIdx.x;
  if (row >= L) return;
  const int head = blockIdx.z * H + blockIdx.y, kv_head = blockIdx.z * Hkv + blockIdx.y / (H / Hkv);
  float mine[HeadDim], acc[HeadDim] = {}, m = -INFINITY, sum = 0;
#pragma unroll
  for (int d = 0; d < HeadDim; ++d) mine[d] = q[(size_t(head) * L + row) * HeadDim + d] * scale;
  for (int j = 0; j < S; ++j) {
    const float *key = k + (size_t(kv_head) * S + j) * HeadDim, *value = v + (size_t(kv_head) * S + j) * HeadDim;
    float part[4] = {};
#pragma unroll
    for (int d = 0; d < HeadDim; ++d) part[d % 4] += mine[d] * key[d];
    const float s = (part[0] + part[1]) + (part[2] + part[3]);
    const float m_new = fmaxf(m, s), rescale = expf(m - m_new), p = expf(s - m_new);
#pragma unroll
    for (int e = 0; e < HeadDim; ++e) acc[e] = acc[e] * rescale + p * value[e];
    sum = sum * rescale + p;
    m = m_new;
  }
#pragma unroll
  for (int e = 0; e < HeadDim; ++e) o[(size_t(head) * L + row) * HeadDim + e] = sum > 0 ? acc[e] / sum : 0;
}

template __global__ void attention<16, 64>(const float *, const float *, const float *, float *, int, int, int, int, float);
