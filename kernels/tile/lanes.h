// A register of lanes: the unit in which the `simd` mapping computes. One thread owns whole registers and a lane is a
// column of a tile, so nothing here knows about threads.
//
// Portable vector code only (Clang's ext_vector_type): it becomes AVX-512 or AVX2 natively and float16/float8 in
// SPIR-V, where wider vectors do not exist.
#pragma once

#ifndef LANES
#define LANES 16 // 16 for AVX-512, 8 for AVX2
#endif

namespace tile {

static_assert(LANES == 16 || LANES == 8, "LANES must be 8 or 16: OpenCL has no wider vectors and tiles transpose by these");

typedef float lanes __attribute__((ext_vector_type(LANES)));
typedef int int_lanes __attribute__((ext_vector_type(LANES)));

struct __attribute__((packed, aligned(4))) unaligned_lanes {
  lanes value;
};

__device__ __forceinline__ lanes splat(float x) { return lanes(x); }

__device__ __forceinline__ lanes load(const float *from) {
  return reinterpret_cast<const unaligned_lanes *>(from)->value;
}

__device__ __forceinline__ void store(float *to, lanes value) { reinterpret_cast<unaligned_lanes *>(to)->value = value; }

/// 0, 1, 2, …
__device__ __forceinline__ int_lanes lane_index() {
#if LANES == 16
  return int_lanes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#else
  return int_lanes{0, 1, 2, 3, 4, 5, 6, 7};
#endif
}

/// A NaN in `b` stays, which keeps a NaN score a NaN; one in `a` is dropped. One instruction, unlike fmax.
__device__ __forceinline__ lanes larger(lanes a, lanes b) { return a > b ? a : b; }

__device__ __forceinline__ lanes negative_infinity() { return splat(-__builtin_inff()); }

} // namespace tile
