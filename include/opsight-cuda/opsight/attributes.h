// CUDA's keywords as Clang's attributes. Nothing here needs another header.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
// Clang ignores __managed__ in CUDA mode; the annotation is how the compiler finds such a variable and says so.
#define __managed__ __attribute__((device)) __attribute__((annotate("opsight.managed")))
#define __grid_constant__ __attribute__((grid_constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(...)
#define __cluster_dims__(...) __attribute__((annotate("opsight.cluster")))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __device_builtin__
#define __cudart_builtin__
#define __device_builtin_texture_type__ __attribute__((device_builtin_texture_type))
#define __device_builtin_surface_type__ __attribute__((device_builtin_surface_type))
#define __nv_pure__
#ifndef CUDARTAPI
#define CUDARTAPI
#define CUDART_CB
#endif

// Functions of ours that kernels call. Inlined always, so that a kernel's IR shows what they are made of.
#define OPSIGHT_DEVICE static __inline__ __attribute__((device)) __attribute__((always_inline)) __attribute__((nothrow))
#define OPSIGHT_BOTH \
  static __inline__ __attribute__((host)) __attribute__((device)) __attribute__((always_inline)) __attribute__((nothrow))
