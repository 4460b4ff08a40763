// One step of heat flow on a 2-D grid: five points, borders kept.
// grid (ceil(width / 32), ceil(height / 8)), block 32 x 8
#include <cuda_runtime.h>

__global__ void stencil(const float *in, float *out, int width, int height, float rate) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height)
    return;
  const int i = y * width + x;
  const float centre = in[i];
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
    out[i] = centre;
    return;
  }
  out[i] = centre + rate * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width] - 4.0f * centre);
}
