// Somebody's kernel with names of their own and self-attention only: what each parameter receives is said in [arguments].
// expect: PASS
//| kernel = "fwd_k1"
//| [launch]
//| grid = ["ceil_div(L * H * B, 128)"]
//| block = [128]
//| [arguments]
//| xq = "query"
//| mem_a = "key"
//| mem_b = "value"
//| res = "output"
//| total = "B * H * L"
//| tok = "L"
//| width = "D"
//| temper = "scale"
//| [limits]
//| "S - L" = 0
//| "H - Hkv" = 0
//| "D - Dv" = 0
//| "max(D, 256)" = 256
//| "max(L, 600)" = 600
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

#define WMAX 256
typedef float real;

__global__ void fwd_k1(real *res, const real *xq, const real *mem_b, const real *mem_a, real temper, int total, int tok,
                       int width) {
  for (int id = blockIdx.x * blockDim.x + threadIdx.x; id < total; id += gridDim.x * blockDim.x) {
    const long long base = (long long)(id / tok) * tok * width;
    real top = -3.402823466e+38f, z = 0, a[WMAX];
    for (int c = 0; c < width; c++) a[c] = 0;
    for (int t = 0; t < tok; t++) {
      real e = 0;
      for (int c = 0; c < width; c++) e += xq[(long long)id * width + c] * mem_a[base + (long long)t * width + c];
      e *= temper;
      if (e > top) {
        const real f = exp(top - e);
        z *= f;
        for (int c = 0; c < width; c++) a[c] *= f;
        top = e;
      }
      const real w = exp(e - top);
      z += w;
      for (int c = 0; c < width; c++) a[c] += w * mem_b[base + (long long)t * width + c];
    }
    for (int c = 0; c < width; c++) res[(long long)id * width + c] = a[c] / z;
  }
}
