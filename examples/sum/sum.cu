// The sum of n numbers in two launches: one number a block, then one block over those.
__device__ float block_sum(float mine) {
  __shared__ float part[256];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  return part[0];
}

__global__ void sum_blocks(const float *x, float *partial, int n) {
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine += x[i];
  float sum = block_sum(mine);
  if (threadIdx.x == 0)
    partial[blockIdx.x] = sum;
}

__global__ void sum_partials(const float *partial, float *total, int count) {
  float sum = block_sum(threadIdx.x < count ? partial[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0)
    *total = sum;
}
