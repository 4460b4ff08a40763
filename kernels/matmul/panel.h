// A part of b, packed in strips: the columns that six rows of sums need, register by register, one row of b after another.
// Read where it lies, a narrow strip of a wide matrix would fall into a few sets of the first cache and a page for every row;
// it is packed a block's whole width at a time, so that memory is read in long pieces.
#pragma once
#include "../tile/row.h"
#include "../tile/transpose.h"

namespace matmul {

/// `depth` rows of `vectors` registers.
template <int depth, int vectors> struct panel { tile::lanes at[depth][vectors]; };

/// Rows [0, count) of a (K,N) matrix at its first row and column; of columns past `columns` the last
/// register's are 0, further ones are whatever lay there: none of them is stored.
template <int strips, int depth, int vectors>
__device__ __forceinline__ void pack(panel<depth, vectors> (&to)[strips], const float *from, long long row_length, int count,
                                     int columns) {
  if (columns == strips * vectors * LANES) {
#pragma unroll 1
    for (int k = 0; k < count; ++k)
#pragma unroll
      for (int v = 0; v < strips * vectors; ++v)
        to[v / vectors].at[k][v % vectors] = tile::load(from + k * row_length + v * LANES);
    return;
  }
#pragma unroll 1
  for (int v = 0; v * LANES < columns; ++v) // a last block: its registers one after another, the last of them in part
#pragma unroll 1
    for (int k = 0; k < count; ++k) {
      const float *at = from + k * row_length + v * LANES;
      tile::lanes &register_of = to[v / vectors].at[k][v % vectors];
      register_of = columns - v * LANES >= LANES ? tile::load(at) : tile::last_piece{columns - v * LANES}.load(at, 0.0f);
    }
}

/// The same of a matrix that lies as (N,K): rows are columns. Those past `columns` repeat the last one, so that nothing is
/// read outside; what is computed of them is not stored.
template <int strips, int depth, int vectors>
__device__ __forceinline__ void pack_transposed(panel<depth, vectors> (&to)[strips], const float *from, long long row_length,
                                                int count, int columns) {
#pragma unroll 1
  for (int v = 0; v * LANES < columns; ++v) {
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
        to[v / vectors].at[k + i][v % vectors] = square[i];
    }
#pragma unroll 1
    for (; k < count; ++k) {
      float each[LANES];
#pragma unroll
      for (int i = 0; i < LANES; ++i)
        each[i] = row[i][k];
      to[v / vectors].at[k][v % vectors] = tile::load(each);
    }
  }
}

} // namespace matmul
