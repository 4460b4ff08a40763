// A part of b, packed: the columns that a block computes, register by register, one row of b after another. Read where it
// lies, a narrow strip of a wide matrix would fall into a few sets of the first cache and a page for every row.
#pragma once
#include "../tile/row.h"
#include "../tile/transpose.h"

namespace matmul {

/// `depth` rows of `vectors` registers.
template <int depth, int vectors> struct panel { tile::lanes at[depth][vectors]; };

/// Rows [0, count) of a (K,N) matrix at its first row and column; columns past `columns` are 0.
template <int depth, int vectors>
__device__ __forceinline__ void pack(panel<depth, vectors> &to, const float *from, long long row_length, int count, int columns) {
  if (columns >= vectors * LANES) {
#pragma unroll 4
    for (int k = 0; k < count; ++k)
#pragma unroll
      for (int v = 0; v < vectors; ++v)
        to.at[k][v] = tile::load(from + k * row_length + v * LANES);
    return;
  }
#pragma unroll 1
  for (int k = 0; k < count; ++k)
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      to.at[k][v] = tile::last_piece{min(max(columns - v * LANES, 0), LANES)}.load(from + k * row_length + v * LANES, 0.0f);
}

/// The same of a matrix that lies as (N,K): rows are columns. Those past `columns` repeat the last one, so that nothing is
/// read outside; what is computed of them is not stored.
template <int depth, int vectors>
__device__ __forceinline__ void pack_transposed(panel<depth, vectors> &to, const float *from, long long row_length, int count,
                                                int columns) {
#pragma unroll 1
  for (int v = 0; v < vectors; ++v) {
    const float *row[LANES];
#pragma unroll
    for (int i = 0; i < LANES; ++i)
      row[i] = from + min(v * LANES + i, columns - 1) * row_length;
    int k = 0;
#pragma unroll 1
    for (; k + LANES <= count; k += LANES) {
      tile::lanes square[LANES];
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        square[i] = tile::load(row[i] + k);
      tile::transpose(square);
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        to.at[k + i][v] = square[i];
    }
#pragma unroll 1
    for (; k < count; ++k) {
      float each[LANES];
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        each[i] = row[i][k];
      to.at[k][v] = tile::load(each);
    }
  }
}

} // namespace matmul
