// The gradients of attention, a block a key-value head: a thread a query makes dQ, then a thread a key dK and dV, each summing
// up all that it needs anew, so that no sum has two who add to it.
// operator: scaled_dot_product_attention_backward
// cards: cpu
// variant right = 0: PASS
// variant no_delta = 1: FAIL error phase=delta
// variant no_scale = 2: FAIL error phase=scale
// variant first_head_only = 3: FAIL error phase=heads
// variant scores_not_weighed = 4: FAIL error phase=weights
// variant last_keys_left_out = 5: FAIL error phase=indexing
// variant lse_ignored = 6: FAIL error|nan
// variant causal_ignored = 7: FAIL error phase=mask
// variant values_from_scores = 8: FAIL error
// variant two_add_to_one_key = 9: FAIL error|race|not_repeatable
//| kernel = "attention_backward"
//| [launch]
//| grid  = ["Hkv", "B"]
//| block = [128]
//| [options]
//| causal = "top-left"
//| [limits]
//| "max(L * S, 40000)" = 40000
//| "max(D, 128)" = 128
#include <cuda_runtime.h>

struct Sizes {
  int L, S, D, Dv;
  float scale;
};

__device__ float dot(const float *a, const float *b, int n) {
  float sum = 0.0f;
  for (int d = 0; d < n; ++d) sum += a[d] * b[d];
  return sum;
}

__device__ float weight(const float *q, const float *k, float lse, const Sizes &n) {
  return lse == -INFINITY ? 0.0f : expf(dot(q, k, n.D) * n.scale - (VARIANT == 6 ? 0.0f : lse));
}

/// scale times the gradient of a score.
__device__ float of_score(float p, const float *v, const float *dO, const float *o, const Sizes &n) {
  const float delta = VARIANT == 1 ? 0.0f : dot(dO, o, n.Dv);
  return (VARIANT == 4 ? 1.0f : p) * (dot(dO, v, n.Dv) - delta) * (VARIANT == 2 ? 1.0f : n.scale);
}

__global__ void attention_backward(const float *q, const float *k, const float *v, const float *dout, const float *out,
                                   const float *lse, float *dq, float *dk, float *dv, int H, int Hkv, int L, int S, int D,
                                   int Dv, float scale) {
  const Sizes n{L, S, D, Dv, scale};
  const int group = H / Hkv, first = blockIdx.y * H + blockIdx.x * group;
  const size_t keys = ((size_t)blockIdx.y * Hkv + blockIdx.x) * S;
  k += keys * D, v += keys * Dv, dk += keys * D, dv += keys * Dv;
  for (int j = threadIdx.x; j < S; j += blockDim.x) {
    for (int d = 0; d < D; ++d) dk[(size_t)j * D + d] = 0.0f;
    for (int d = 0; d < Dv; ++d) dv[(size_t)j * Dv + d] = 0.0f;
  }
  __syncthreads();
  for (int row = threadIdx.x; row < group * L; row += blockDim.x) {
    const size_t i = (size_t)first * L + row;
    const int all = VARIANT == 5 ? S / 64 * 64 : S, seen = VARIANT == 7 ? all : min(row % L + 1, all);
    for (int d = 0; d < D; ++d) dq[i * D + d] = 0.0f;
    for (int j = 0; j < seen; ++j) {
      const float p = weight(q + i * D, k + (size_t)j * D, lse[i], n);
      const float ds = of_score(p, v + (size_t)j * Dv, dout + i * Dv, out + i * Dv, n);
      for (int d = 0; d < D; ++d) dq[i * D + d] += ds * k[(size_t)j * D + d];
      if (VARIANT == 9)
        for (int d = 0; d < D; ++d) dk[(size_t)j * D + d] += ds * q[i * D + d];
    }
  }
  for (int j = threadIdx.x; j < S; j += blockDim.x)
    for (int row = 0; row < (VARIANT == 3 ? 1 : group) * L; ++row) {
      const size_t i = (size_t)first * L + row;
      if ((VARIANT != 7 && j > row % L) || (VARIANT == 5 && j >= S / 64 * 64)) continue;
      const float p = weight(q + i * D, k + (size_t)j * D, lse[i], n);
      const float ds = of_score(p, v + (size_t)j * Dv, dout + i * Dv, out + i * Dv, n);
      for (int d = 0; d < D && VARIANT != 9; ++d) dk[(size_t)j * D + d] += ds * q[i * D + d];
      for (int d = 0; d < Dv; ++d) dv[(size_t)j * Dv + d] += (VARIANT == 8 ? ds : p) * dout[i * Dv + d];
    }
}
