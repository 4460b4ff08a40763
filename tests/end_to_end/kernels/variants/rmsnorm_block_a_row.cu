// A block a row: the sum of squares by shuffles, then through shared memory.
// operator: rmsnorm
// variant right = 0: PASS
// variant mean_taken_off = 1: FAIL error phase=mean
// variant eps_missing = 2: FAIL error|nan phase=variance
// variant another_eps = 3: FAIL error phase=variance
// variant not_divided_by_columns = 4: FAIL error phase=variance
// variant weight_missing = 5: FAIL error phase=scale
// variant first_warp_sums = 6: FAIL error phase=variance
// variant row_of_the_block_before = 7: FAIL error|out_of_bounds phase=indexing
//| kernel = "rms_norm"
//| [launch]
//| grid = ["N"]
//| block = [256]
__global__ void rms_norm(float *out, const float *input, const float *weight, int hidden_size) {
  __shared__ float partial[8];
  __shared__ float factor;
  int row = VARIANT == 7 && blockIdx.x > 0 ? blockIdx.x - 1 : blockIdx.x;
  const float *x = input + (size_t)row * hidden_size;
  float mean = 0.0f;
  if (VARIANT == 1) {
    for (int j = 0; j < hidden_size; ++j)
      mean += x[j];
    mean /= hidden_size;
  }
  float squares = 0.0f;
  for (int j = threadIdx.x; j < hidden_size; j += blockDim.x)
    squares += (x[j] - mean) * (x[j] - mean);
  for (int offset = 16; offset > 0; offset /= 2)
    squares += __shfl_down_sync(0xffffffff, squares, offset);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = squares;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int w = 0; w < (VARIANT == 6 ? 1 : 8); ++w)
      sum += partial[w];
    float eps = VARIANT == 2 ? 0.0f : VARIANT == 3 ? 1e-8f : 1e-5f;
    factor = rsqrtf(sum / (VARIANT == 4 ? 1 : hidden_size) + eps);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < hidden_size; j += blockDim.x)
    out[(size_t)blockIdx.x * hidden_size + j] = (x[j] - mean) * factor * (VARIANT == 5 ? 1.0f : weight[j]);
}
