// A warp a row, four floats a load where the row allows it.
// operator: rmsnorm
// variant right = 0: PASS
// variant vectors_only = 1: FAIL unwritten|error
//| kernel = "rms_norm"
//| [launch]
//| grid = ["ceil_div(N, 8)"]
//| block = [32, 8]
#include <cuda_runtime.h>

__global__ void rms_norm(const float *__restrict__ x, const float *__restrict__ w, float *__restrict__ y, int n_rows,
                         int dim, float eps) {
  int row = blockIdx.x * 8 + threadIdx.y;
  if (row >= n_rows)
    return;
  x += (size_t)row * dim, y += (size_t)row * dim;
  bool aligned = dim % 4 == 0;
  int vectors = aligned || VARIANT == 1 ? dim / 4 : 0;
  float squares = 0.0f;
  for (int v = threadIdx.x; v < vectors; v += 32) {
    float4 a = aligned ? reinterpret_cast<const float4 *>(x)[v] : make_float4(x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]);
    squares += a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
  }
  int rest = VARIANT == 1 ? dim : 4 * vectors;
  for (int j = rest + threadIdx.x; j < dim; j += 32)
    squares += x[j] * x[j];
  for (int offset = 16; offset > 0; offset /= 2)
    squares += __shfl_xor_sync(0xffffffff, squares, offset);
  float scale = rsqrtf(squares / dim + eps);
  for (int v = threadIdx.x; v < vectors; v += 32)
    for (int j = 4 * v; j < 4 * v + 4; ++j)
      y[j] = x[j] * scale * w[j];
  for (int j = rest + threadIdx.x; j < dim; j += 32)
    y[j] = x[j] * scale * w[j];
}
