// One launch: the first N blocks have a row each, the others 32 columns, whose rows they sum in a fixed order.
// PoCL's compiler reads gamma for threads that its loop leaves out, and crashes where gamma ends.
// cards: cpu
// operator: layernorm_backward
// variant right = 0: PASS
// variant last_rows_left_out = 1: FAIL error phase=sum
//| kernel = "layernorm_backward"
//| [launch]
//| grid = ["N + ceil_div(C, 32)"]
//| block = [32, 8]
#include <cuda_runtime.h>

__global__ void layernorm_backward(const float *dy, const float *x, const float *gamma, const float *mu,
                                   const float *inv_std, float *dx, float *dgamma, float *dbeta, int rows, int cols) {
  __shared__ float first[8][32], second[8][32];
  bool is_row = blockIdx.x < rows;
  int column = (blockIdx.x - rows) * 32 + threadIdx.x, thread = threadIdx.y * 32 + threadIdx.x;
  float a = 0.0f, b = 0.0f;
  if (is_row) {
    for (int j = thread; j < cols; j += 256) {
      float g = dy[(size_t)blockIdx.x * cols + j] * gamma[j];
      a += g;
      b += g * (x[(size_t)blockIdx.x * cols + j] - mu[blockIdx.x]) * inv_std[blockIdx.x];
    }
  } else if (column < cols) {
    int end = VARIANT == 1 ? rows / 8 * 8 : rows;
    for (int r = threadIdx.y; r < end; r += 8) {
      a += dy[(size_t)r * cols + column];
      b += dy[(size_t)r * cols + column] * (x[(size_t)r * cols + column] - mu[r]) * inv_std[r];
    }
  }
  first[threadIdx.y][threadIdx.x] = a;
  second[threadIdx.y][threadIdx.x] = b;
  __syncthreads();
  a = b = 0.0f;
  for (int y = 0; y < 8; ++y) {
    if (is_row) {
      for (int l = 0; l < 32; ++l) {
        a += first[y][l];
        b += second[y][l];
      }
    } else {
      a += first[y][threadIdx.x];
      b += second[y][threadIdx.x];
    }
  }
  if (is_row) {
    a /= cols, b /= cols;
    for (int j = thread; j < cols; j += 256) {
      size_t i = (size_t)blockIdx.x * cols + j;
      float s = inv_std[blockIdx.x];
      dx[i] = s * (dy[i] * gamma[j] - a - (x[i] - mu[blockIdx.x]) * s * b);
    }
  } else if (column < cols && threadIdx.y == 0) {
    dbeta[column] = a;
    dgamma[column] = b;
  }
}
