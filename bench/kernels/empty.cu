// Does nothing: what a launch costs.
#include <cuda_runtime.h>

__global__ void empty() {}
