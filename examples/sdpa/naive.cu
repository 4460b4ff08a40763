// Attention as the formula reads: one thread a query row, and a softmax that exponentiates the scores as they are. On
// friendly inputs it is right; where scores are large, exp overflows and the row is lost.
//
// nvcc naive.cu -o naive && ./naive
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

__global__ void naive_attention(const float *query, const float *key, const float *value, float *output, int heads,
                                int kv_heads, int queries, int keys, int head_dim, float scale) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= queries)
    return;
  const int head = blockIdx.y, batch = blockIdx.z;
  const long long shared_head = (long long)batch * kv_heads + head / (heads / kv_heads);
  const float *q = query + (((long long)batch * heads + head) * queries + row) * head_dim;
  const float *k = key + shared_head * keys * head_dim;
  const float *v = value + shared_head * keys * head_dim;
  float *o = output + (((long long)batch * heads + head) * queries + row) * head_dim;

  float sum = 0.0f;
  for (int d = 0; d < head_dim; ++d)
    o[d] = 0.0f;
  for (int j = 0; j < keys; ++j) {
    float score = 0.0f;
    for (int d = 0; d < head_dim; ++d)
      score += q[d] * k[(long long)j * head_dim + d];
    const float weight = expf(score * scale); // no maximum is taken off first
    sum += weight;
    for (int d = 0; d < head_dim; ++d)
      o[d] += weight * v[(long long)j * head_dim + d];
  }
  for (int d = 0; d < head_dim; ++d)
    o[d] /= sum;
}

int main() {
  const int batch = 1, heads = 8, length = 1024;
  const size_t count = (size_t)batch * heads * length * HEAD_DIM;
  std::vector<float> host(count);
  for (float &x : host)
    x = (float)rand() / RAND_MAX - 0.5f;
  float *q, *k, *v, *o;
  for (float **buffer : {&q, &k, &v, &o})
    cudaMalloc(buffer, count * sizeof(float));
  for (float *buffer : {q, k, v})
    cudaMemcpy(buffer, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  const dim3 grid((length + 63) / 64, heads, batch);
  naive_attention<<<grid, 64>>>(q, k, v, o, heads, heads, length, length, HEAD_DIM, 1.0f / sqrtf(HEAD_DIM));
  cudaMemcpy(host.data(), o, count * sizeof(float), cudaMemcpyDeviceToHost);
  printf("output[0] = %f: %s\n", host[0], cudaGetErrorString(cudaGetLastError()));
  for (float *buffer : {q, k, v, o})
    cudaFree(buffer);
}
