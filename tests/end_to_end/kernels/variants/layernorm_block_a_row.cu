// A block a row with Welford's running moments, merged in shared memory; eps is a parameter.
// operator: layernorm
// variant right = 0: PASS
// variant merged_without_the_means_distance = 1: FAIL error phase=variance
//| kernel = "layer_norm"
//| [launch]
//| grid = ["N"]
//| block = [128]
struct Moments {
  float count, mean, squares;
};

__device__ Moments merge(Moments a, Moments b) {
  float count = a.count + b.count;
  if (count == 0.0f)
    return a;
  float distance = b.mean - a.mean;
  float between = VARIANT == 1 ? 0.0f : distance * distance * a.count * b.count / count;
  return {count, a.mean + distance * (b.count / count), a.squares + b.squares + between};
}

__global__ void layer_norm(const float *x, const float *gamma, const float *beta, float *y, int rows, int hidden_size,
                           float epsilon) {
  __shared__ Moments shared[128];
  Moments own = {0.0f, 0.0f, 0.0f};
  for (int j = threadIdx.x; j < hidden_size; j += 128) {
    float v = x[(long)blockIdx.x * hidden_size + j], before = v - own.mean;
    own.count += 1.0f;
    own.mean += before / own.count;
    own.squares += before * (v - own.mean);
  }
  shared[threadIdx.x] = own;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half)
      shared[threadIdx.x] = merge(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  float mean = shared[0].mean, scale = rsqrtf(shared[0].squares / hidden_size + epsilon);
  for (int j = threadIdx.x; j < hidden_size; j += 128) {
    long i = (long)blockIdx.x * hidden_size + j;
    y[i] = (x[i] - mean) * scale * gamma[j] + beta[j];
  }
}
