// 32 rows a block; key tiles lie transposed and padded in shared memory, so that threads read along a row of banks.
// expect: PASS
//| kernel = "attention_tiles"
//| [launch]
//| grid = ["ceil_div(L, 32)", "H", "B"]
//| block = [32, 8]
//| [limits]
//| "max(D, 64)" = 64
//| "max(Dv, 64)" = 64
//| "max(L, 600)" = 600
//| "max(S, 1100)" = 1100
#include <cuda_runtime.h>

constexpr int tile = 32, widest = 64;

// threadIdx.x is a key of the tile or a column of the output, threadIdx.y picks every eighth row.
__global__ void __launch_bounds__(256) attention_tiles(const float *q, const float *k, const float *v, float *o, int H,
                                                       int Hkv, int L, int S, int D, int Dv, float scale) {
  __shared__ float keys[widest][tile + 1], weight[tile][tile + 1];
  const int x = threadIdx.x, y = threadIdx.y, first_row = blockIdx.x * tile;
  const int head = blockIdx.z * H + blockIdx.y, kv_head = blockIdx.z * Hkv + blockIdx.y / (H / Hkv);
  q += size_t(head) * L * D;
  k += size_t(kv_head) * S * D;
  v += size_t(kv_head) * S * Dv;
  float acc[4][2] = {}, m[4], sum[4] = {};
  for (int i = 0; i < 4; ++i) m[i] = -INFINITY;
  for (int first = 0; first < S; first += tile) {
    const int used = min(tile, S - first);
    for (int j = y; j < tile; j += 8)
      for (int d = x; d < D; d += tile) keys[d][j] = j < used ? k[size_t(first + j) * D + d] : 0;
    __syncthreads();
    for (int i = 0; i < 4; ++i) {
      const int row = min(first_row + y + 8 * i, L - 1);
      float s = 0;
      for (int d = 0; d < D; ++d) s += q[size_t(row) * D + d] * keys[d][x];
      weight[y + 8 * i][x] = s * scale;
    }
    __syncthreads();
    for (int i = 0; i < 4; ++i) {
      const float *w = weight[y + 8 * i];
      float m_new = m[i];
      for (int j = 0; j < used; ++j) m_new = fmaxf(m_new, w[j]);
      const float rescale = expf(m[i] - m_new);
      m[i] = m_new;
      sum[i] *= rescale;
      for (int c = 0; c < 2; ++c) acc[i][c] *= rescale;
      for (int j = 0; j < used; ++j) {
        const float p = expf(w[j] - m_new);
        sum[i] += p;
        for (int c = 0; c < 2; ++c)
          if (x + 32 * c < Dv) acc[i][c] += p * v[size_t(first + j) * Dv + x + 32 * c];
      }
    }
    __syncthreads(); // before the next tile overwrites this one
  }
  for (int i = 0; i < 4; ++i)
    for (int c = 0; c < 2; ++c)
      if (first_row + y + 8 * i < L && x + 32 * c < Dv)
        o[(size_t(head) * L + first_row + y + 8 * i) * Dv + x + 32 * c] = sum[i] > 0 ? acc[i][c] / sum[i] : 0;
}
