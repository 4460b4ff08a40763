// A whole CUDA program: allocation, launch and a check on the host lie beside the kernel and are left alone.
// expect: PASS
//| kernel = "attention"
//| [launch]
//| grid = ["ceil_div(L, 64)", "B * H"]
//| block = [64]
//| [limits]
//| "H - Hkv" = 0
//| "D - Dv" = 0
//| "max(D, 128)" = 128
//| "max(L, 160)" = 160
//| "max(S, 600)" = 600
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    cudaError_t status = (call);                                                                                       \
    if (status != cudaSuccess) {                                                                                       \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status));                                   \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

struct Shape {
  int rows, keys, width;
};

__global__ void attention(const float *Q, const float *K, const float *V, float *out, int L, int S, int D, float scale) {
  const Shape shape{L, S, D};
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= shape.rows) return;
  const float *q = Q + (size_t(blockIdx.y) * L + row) * D;
  float acc[128] = {}, m = -INFINITY, sum = 0;
  for (int j = 0; j < shape.keys; ++j) {
    const size_t key = (size_t(blockIdx.y) * S + j) * D;
    float s = 0;
    for (int d = 0; d < shape.width; ++d) s += q[d] * K[key + d];
    const float m_new = max(m, s * scale), rescale = expf(m - m_new), p = expf(s * scale - m_new);
    for (int e = 0; e < shape.width; ++e) acc[e] = acc[e] * rescale + p * V[key + e];
    sum = sum * rescale + p;
    m = m_new;
  }
  for (int e = 0; e < shape.width; ++e) out[(size_t(blockIdx.y) * L + row) * D + e] = sum > 0 ? acc[e] / sum : 0;
}

int main(int argc, char **argv) {
  const int heads = 8, n = argc > 1 ? atoi(argv[1]) : 256, d = 64;
  std::vector<float> host(size_t(heads) * n * d, 1.0f);
  float *device[4];
  for (float *&p : device) CHECK(cudaMalloc(&p, host.size() * sizeof(float)));
  for (int i = 0; i < 3; ++i) CHECK(cudaMemcpy(device[i], host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
  attention<<<dim3((n + 63) / 64, heads), 64>>>(device[0], device[1], device[2], device[3], n, n, d, 0.125f);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(host.data(), device[3], host.size() * sizeof(float), cudaMemcpyDeviceToHost));
  printf("%s\n", host[0] == 1.0f ? "PASS" : "FAIL");
  for (float *p : device) CHECK(cudaFree(p));
}
