// Accelerations of n bodies by gravity: all pairs, 256 bodies at a time in shared memory.
// grid (n / 256), block 256
#include <cuda_runtime.h>

constexpr int tile = 256;

__global__ void nbody(const float4 *bodies, float4 *accelerations, int n, float softening) {
  __shared__ float4 others[tile]; // x, y, z, mass
  const int i = blockIdx.x * tile + threadIdx.x;
  const float4 me = bodies[i];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < n; first += tile) {
    others[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < tile; ++j) {
      const float4 other = others[j];
      const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
      const float pull = other.w * inverse * inverse * inverse;
      ax += dx * pull;
      ay += dy * pull;
      az += dz * pull;
    }
    __syncthreads();
  }
  accelerations[i] = make_float4(ax, ay, az, 0.0f);
}
