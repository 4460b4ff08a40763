// 16 × 16 tiles of both matrices in shared memory, a thread an element; alpha and beta as in BLAS.
// operator: matmul
// variant right = 0: PASS
// variant reads_output_at_beta_zero = 1: FAIL nan|uninitialised
// variant last_tile_dropped = 2: FAIL error phase=sum
// variant tail_not_zeroed = 3: FAIL error|nan|out_of_bounds
// variant no_second_barrier = 4: FAIL race
// variant b_transposed = 5: FAIL error|out_of_bounds phase=indexing|sum|unknown
// variant products_in_half = 6: FAIL precision
// variant tail_unwritten = 7: FAIL unwritten
//| kernel = "matmul"
//| [launch]
//| grid = ["ceil_div(N, 16)", "ceil_div(M, 16)"]
//| block = [16, 16]
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta) {
  __shared__ float a[16][16], b[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  int tiles = VARIANT == 2 ? K / 16 : (K + 15) / 16;
  for (int t = 0; t < tiles; ++t) {
    int left = t * 16 + threadIdx.x, upper = t * 16 + threadIdx.y;
    bool inside = VARIANT == 3 ? row < M : row < M && left < K;
    a[threadIdx.y][threadIdx.x] = inside ? A[row * K + left] : 0.0f;
    inside = VARIANT == 3 ? column < N : column < N && upper < K;
    b[threadIdx.y][threadIdx.x] = inside ? B[VARIANT == 5 ? column * K + upper : upper * N + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      float product = a[threadIdx.y][k] * b[k][threadIdx.x];
      sum += VARIANT == 6 ? __half2float(__float2half(product)) : product;
    }
#if VARIANT != 4
    __syncthreads();
#endif
  }
  if (VARIANT == 7 && (row >= M / 16 * 16 || column >= N / 16 * 16))
    return;
  if (row < M && column < N) {
    float before = VARIANT == 1 || beta != 0.0f ? beta * C[row * N + column] : 0.0f;
    C[row * N + column] = alpha * sum + before;
  }
}
