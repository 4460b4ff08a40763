// Tiles under the `simd` mapping: one thread owns the tile, its columns are lanes, its rows lie one after another.
// A tile of queries holds query q in lane q, so sums and maxima over keys or dimensions need no work across lanes.
#pragma once
#include "transpose.h"

namespace tile {

template <int columns> constexpr int registers_of() {
  static_assert(columns % LANES == 0, "a tile's columns must fill whole registers: make the tile a multiple of LANES");
  return columns / LANES;
}

/// `rows` × `columns` floats; at[r][v] holds columns v·LANES … of row r.
template <int rows, int columns> struct simd_tile {
  static constexpr int vectors = registers_of<columns>();
  lanes at[rows][vectors];
};

/// How many rows and registers of a product are summed at once: as many accumulators as leave room for the operands.
struct register_block {
  static constexpr int rows = 4;
  static constexpr int vectors = LANES == 16 ? 4 : 3; // of 32 and of 16 vector registers
};

/// sum[i][v] += left[i·row_stride + k·depth_stride] · right[k·right_stride + v] for k in [0, depth) and v in
/// [skip, vectors): `rows` scalars are spread over registers that are loaded once. `left` is read where it lies, never
/// packed.
template <int skip, int rows, int vectors>
__device__ __forceinline__ void multiply_add(lanes (&sum)[rows][vectors], const float *left, long long row_stride,
                                             long long depth_stride, const lanes *right, int right_stride, int depth) {
#pragma clang loop unroll_count(4)
  for (int k = 0; k < depth; ++k) {
    lanes row[vectors];
#pragma unroll
    for (int v = skip; v < vectors; ++v)
      row[v] = right[k * right_stride + v];
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      const lanes scalar = splat(left[i * row_stride + k * depth_stride]);
#pragma unroll
      for (int v = skip; v < vectors; ++v)
        sum[i][v] += scalar * row[v];
    }
  }
}

/// to[d][i] = factor · from[(first + i)·depth + d]: rows of a row-major matrix turned into columns. Columns whose row
/// would lie before the matrix (first < 0) repeat row 0, so that nothing is read outside and no later step tests them.
template <int depth, int columns>
__device__ __forceinline__ void load_transposed(simd_tile<depth, columns> &to, const float *from, int first,
                                                float factor) {
#pragma unroll 1
  for (int v = 0; v < to.vectors; ++v) {
    const float *row[LANES];
#pragma unroll
    for (int i = 0; i < LANES; ++i)
      row[i] = from + (long long)max(first + v * LANES + i, 0) * depth;
#pragma unroll 1
    for (int d = 0; d + LANES <= depth; d += LANES) {
      lanes square[LANES];
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        square[i] = load(row[i] + d) * factor;
      transpose(square);
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        to.at[d + i][v] = square[i];
    }
#pragma unroll 1
    for (int d = depth / LANES * LANES; d < depth; ++d)
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        to.at[d][v][i] = row[i][d] * factor;
  }
}

/// to[(first + i)·depth + d] = factor[i] · from[d][i] for the columns whose row exists (first + i ≥ 0).
template <int depth, int columns>
__device__ __forceinline__ void store_transposed(float *to, const simd_tile<depth, columns> &from, int first,
                                                 const lanes *factor) {
#pragma unroll 1
  for (int v = 0; v < from.vectors; ++v) {
    const int row = first + v * LANES;
    float *target = to + (long long)row * depth;
#pragma unroll 1
    for (int d = 0; d + LANES <= depth; d += LANES) {
      lanes square[LANES];
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        square[i] = from.at[d + i][v] * factor[v];
      transpose(square);
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        if (row + i >= 0)
          store(target + i * depth + d, square[i]);
    }
#pragma unroll 1
    for (int d = depth / LANES * LANES; d < depth; ++d) {
      const lanes scaled = from.at[d][v] * factor[v];
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        if (row + i >= 0)
          target[i * depth + d] = scaled[i];
    }
  }
}

} // namespace tile
