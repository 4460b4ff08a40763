// A thread a row, as a first version would be.
// operator: softmax_backward
// variant right = 0: PASS
// variant gradient_of_the_logarithm = 1: FAIL error phase=scale
//| kernel = "softmax_backward"
//| [launch]
//| grid = ["ceil_div(N, 64)"]
//| block = [64]
__global__ void softmax_backward(const float *y, const float *dy, float *dx, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0.0f, weighed = 0.0f;
  for (int j = 0; j < cols; ++j) {
    sum += dy[row * cols + j];
    weighed += dy[row * cols + j] * y[row * cols + j];
  }
  for (int j = 0; j < cols; ++j) {
    int i = row * cols + j;
    dx[i] = VARIANT == 1 ? dy[i] - y[i] * sum : y[i] * (dy[i] - weighed);
  }
}
