// A block of 64 threads computes a row: tree reductions in shared memory give the maximum and the sum.
// expect: PASS
//| kernel = "attention_block"
//| [launch]
//| grid = ["L", "H", "B"]
//| block = [64]
//| shared = "4 * S"
//| [limits]
//| "max(L, 160)" = 160
//| "max(S, 1100)" = 1100
#include <cuda_runtime.h>

constexpr int threads = 64;
extern __shared__ float weight[]; // one a key

template <class Combine> __device__ float block_reduce(float x, Combine combine) {
  __shared__ float partial[threads];
  partial[threadIdx.x] = x;
  __syncthreads();
  for (int width = threads / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) partial[threadIdx.x] = combine(partial[threadIdx.x], partial[threadIdx.x + width]);
    __syncthreads();
  }
  const float all = partial[0];
  __syncthreads(); // before the next reduction writes
  return all;
}

__global__ void attention_block(const float *q, const float *k, const float *v, float *o, int H, int Hkv, int L, int S,
                                int D, int Dv, float scale) {
  const int head = blockIdx.z * H + blockIdx.y, kv_head = blockIdx.z * Hkv + blockIdx.y / (H / Hkv);
  q += (size_t(head) * L + blockIdx.x) * D;
  k += size_t(kv_head) * S * D;
  v += size_t(kv_head) * S * Dv;
  o += (size_t(head) * L + blockIdx.x) * Dv;
  float m = -INFINITY;
  for (int j = threadIdx.x; j < S; j += threads) {
    float s = 0;
    for (int d = 0; d < D; ++d) s += q[d] * k[size_t(j) * D + d];
    weight[j] = s * scale;
    m = fmaxf(m, weight[j]);
  }
  m = block_reduce(m, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int j = threadIdx.x; j < S; j += threads) sum += weight[j] = expf(weight[j] - m);
  sum = block_reduce(sum, [](float a, float b) { return a + b; });
  for (int e = threadIdx.x; e < Dv; e += threads) {
    float acc = 0;
    for (int j = 0; j < S; ++j) acc += weight[j] * v[size_t(j) * Dv + e];
    o[e] = S > 0 ? acc / sum : 0;
  }
}
