// Mandelbrot set: neighbouring threads leave the loop after very different numbers of steps.
// grid (width / 16, height / 16), block 16 x 16
#include <cuda_runtime.h>

__global__ void mandelbrot(int *steps, int width, int height, int most) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height)
    return;
  const float cx = -2.0f + 3.0f * px / width, cy = -1.0f + 2.0f * py / height;
  float x = 0.0f, y = 0.0f;
  int step = 0;
  while (step < most && x * x + y * y < 4.0f) {
    const float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
    ++step;
  }
  steps[py * width + px] = step;
}
