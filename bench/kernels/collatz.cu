// Steps of Collatz' sequence from each number down to 1: a branch in a loop, both different from thread to thread.
// grid (ceil(n / 256)), block 256
#include <cuda_runtime.h>

__global__ void collatz(int *steps, int n, int most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned x = i + 1;
  int step = 0;
  while (x != 1 && step < most) {
    if (x % 2 == 0)
      x /= 2;
    else
      x = 3 * x + 1;
    ++step;
  }
  steps[i] = step;
}
