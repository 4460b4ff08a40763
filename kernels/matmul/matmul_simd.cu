// The product of two row-major matrices in float, with bias, exact gelu and residual on the way out, for cards whose unit is
// a wide core: one thread a block, a block a tile of the output.
//
//   output = residual + gelu(a · b + bias)
//
// Lanes run along the rows of b and of the output. Of every `depth` products the block's columns of b are packed once, in
// strips, and used by all rows of the block; six rows times four registers of sums are kept in registers meanwhile, each
// loaded register of b serving six scalars of a, which are read where they lie. Parts are summed from zero and then added, so
// that rounding grows with the part's length plus the number of parts.
//
// Launch: grid ceil_div(M, block_rows) · ceil_div(N, block_columns), block 1. Macros: TRANSPOSE_B (1: b lies as (N,K)), EPILOGUE (0
// none, 1 bias, 2 bias and gelu, 3 bias and residual, 4 bias, gelu and residual), LANES. matmul_simd.toml says it to the tool.
#include "../tile/gelu.h"
#include "../tile/simd.h"
#include "panel.h"

#ifndef TRANSPOSE_B
#define TRANSPOSE_B 0
#endif
#ifndef EPILOGUE
#define EPILOGUE 0
#endif

namespace matmul {

/// Sums kept in registers: 24 of 32 registers of 16 lanes, 12 of 16 registers of 8.
constexpr int register_rows = 6, register_vectors = LANES == 16 ? 4 : 2;
constexpr int strip_columns = register_vectors * LANES;
using sums = tile::lanes[register_rows][register_vectors];

/// Where the output's tile lies, and what is added to it.
struct target {
  float *output;
  const float *bias, *residual; // null without
  long long row_length;
};

__device__ __forceinline__ tile::lanes finished(tile::lanes sum, tile::lanes bias, tile::lanes residual) {
#if EPILOGUE >= 1
  sum += bias;
#endif
#if EPILOGUE == 2 || EPILOGUE == 4
  sum = tile::gelu(sum);
#endif
#if EPILOGUE >= 3
  sum += residual;
#endif
  return sum;
}

template <class piece_type>
__device__ __forceinline__ void store_one(const piece_type &piece, const target &to, int row, int column, tile::lanes sum) {
  const long long at = row * to.row_length + column;
  tile::lanes bias = {}, residual = {};
#if EPILOGUE >= 1
  bias = piece.load(to.bias + column, 0.0f);
#endif
#if EPILOGUE >= 3
  residual = piece.load(to.residual + at, 0.0f);
#endif
  piece.store(to.output + at, finished(sum, bias, residual));
}

/// Rows first … first + rows - 1 of one strip: the products of one part, added to `before` (null for the first part), and
/// kept there or, after the last part, stored.
template <int rows, int depth>
__device__ __forceinline__ void part_of_rows(const panel<depth, register_vectors> &b, const float *a, long long a_row_length,
                                             int count, tile::lanes (*before)[register_vectors], bool is_first, bool is_last,
                                             const target &to, int columns) {
  tile::lanes sum[rows][register_vectors] = {};
  tile::multiply_add<0>(sum, a, a_row_length, 1, &b.at[0][0], register_vectors, count);
#pragma unroll
  for (int i = 0; i < rows; ++i)
#pragma unroll
    for (int v = 0; v < register_vectors; ++v) {
      tile::lanes total = is_first ? sum[i][v] : before[i][v] + sum[i][v];
      if (!is_last)
        before[i][v] = total;
      else if (columns >= strip_columns)
        store_one(tile::whole_piece{}, to, i, v * LANES, total);
      else if (columns > v * LANES)
        store_one(tile::last_piece{min(columns - v * LANES, LANES)}, to, i, v * LANES, total);
    }
}

} // namespace matmul

template <int block_rows, int block_columns, int depth>
__global__ void matmul_simd(const float *__restrict__ a, const float *__restrict__ b,
#if EPILOGUE >= 1
                            const float *__restrict__ bias,
#endif
#if EPILOGUE >= 3
                            const float *__restrict__ residual,
#endif
                            float *__restrict__ output, int M, int N, int K) {
  using namespace matmul;
  static_assert(block_rows % register_rows == 0, "block_rows must be a multiple of 6: rows are summed six at a time");
  static_assert(block_columns % 64 == 0, "block_columns must be a multiple of 64: whole strips of registers");
#if EPILOGUE < 1
  const float *bias = nullptr;
#endif
#if EPILOGUE < 3
  const float *residual = nullptr;
#endif
  constexpr int strips = block_columns / strip_columns;
  const int column_blocks = (N + block_columns - 1) / block_columns;
  const int first_row = blockIdx.x / column_blocks * block_rows, rows = min(block_rows, M - first_row);
  const int first_column = blockIdx.x % column_blocks * block_columns, columns = min(block_columns, N - first_column);
  tile::lanes totals[strips][block_rows][register_vectors];
  panel<depth, register_vectors> packed[strips];

  int first = 0;
  do { // once where K is 0: the epilogue alone
    const int count = min(depth, K - first);
    const bool is_first = first == 0, is_last = first + depth >= K;
#if TRANSPOSE_B
    pack_transposed(packed, b + (long long)first_column * K + first, K, count, columns);
#else
    pack(packed, b + (long long)first * N + first_column, N, count, columns);
#endif
#pragma unroll 1
    for (int strip = 0; strip * strip_columns < columns; ++strip) {
      const int column = strip * strip_columns;
      const float *left = a + (long long)first_row * K + first;
      const long long corner = (long long)first_row * N + first_column + column;
      const auto target_of = [&](int row) {
        return target{output + corner + (long long)row * N, bias + first_column + column, residual + corner + (long long)row * N, N};
      };
      int row = 0;
#pragma unroll 1
      for (; row + register_rows <= rows; row += register_rows)
        part_of_rows<register_rows>(packed[strip], left + (long long)row * K, K, count, totals[strip] + row, is_first, is_last,
                                    target_of(row), columns - column);
#pragma unroll 1
      for (; row < rows; ++row)
        part_of_rows<1>(packed[strip], left + (long long)row * K, K, count, totals[strip] + row, is_first, is_last,
                        target_of(row), columns - column);
    }
    first += depth;
  } while (first < K);
}
