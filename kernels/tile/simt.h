// Tiles under the `simt` mapping: the threads of a block own a tile together. What is shared lies row-major in shared
// memory; what a thread computes stays in its registers.
//
// A product's columns belong to the lanes of a warp, 32 side by side, its rows to the warps: a warp reads one row of
// the right side, 32 neighbours and so 32 banks, and one element of the left side, the same for all its threads.
// Neither needs padding to be free of bank conflicts, so both keep the alignment of whole rows.
#pragma once

namespace tile {

constexpr int warp_lanes = 32;

/// How many threads a block has, and who a thread is.
template <int block_threads> struct block {
  static constexpr int threads = block_threads;
  static constexpr int warps = block_threads / warp_lanes;
  static_assert(block_threads % warp_lanes == 0, "a block of tiles has whole warps: make it a multiple of 32");

  __device__ __forceinline__ static int thread() { return threadIdx.x; }
  __device__ __forceinline__ static int lane() { return threadIdx.x % warp_lanes; }
  __device__ __forceinline__ static int warp() { return threadIdx.x / warp_lanes; }
};

/// `rows` × `columns` floats in shared memory, row-major.
template <int rows, int columns> struct shared_tile { float at[rows][columns]; };

/// The part of a `rows` × `columns` tile that one thread computes: at[i][j] is of row warp · height + i and column
/// lane + 32 · j.
template <class block, int rows, int columns> struct fragment {
  static_assert(columns % warp_lanes == 0, "a tile's columns must fill whole warps: make them a multiple of 32");
  static constexpr int height = (rows + block::warps - 1) / block::warps;
  static constexpr int width = columns / warp_lanes;
  float at[height][width];

  __device__ __forceinline__ static int row(int i) { return block::warp() * height + i; }
  __device__ __forceinline__ static int column(int j) { return block::lane() + warp_lanes * j; }
};

/// A NaN in `b` stays, which keeps a NaN score a NaN; one in `a` is dropped.
__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }
__device__ __forceinline__ float exponential(float x) { return expf(x); }
__device__ __forceinline__ float negative_infinity_of_one() { return -__builtin_inff(); }

/// to[r][c] = from[r · columns + c] for r < count, 0 for the other rows and for columns that the source has not.
/// Neighbouring threads copy neighbours.
template <class block, int source_columns, int rows, int columns>
__device__ __forceinline__ void stage(shared_tile<rows, columns> &to, const float *from, int count) {
  static_assert(source_columns <= columns, "a staged tile must be as wide as its source");
#pragma unroll 4
  for (int i = block::thread(); i < rows * columns; i += block::threads) {
    const int row = i / columns, column = i % columns;
    to.at[row][column] = row < count && column < source_columns ? from[(long long)row * source_columns + column] : 0.0f;
  }
}

/// to[d][r] = factor · from[(first + r) · depth + d]: rows of the source become columns. Rows before the source repeat
/// row 0, so that no later step tests them.
template <class block, int depth, int columns> __device__ __forceinline__ void
stage_transposed(shared_tile<depth, columns> &to, const float *from, int first, float factor) {
  static_assert(block::threads % columns == 0, "a block has a whole number of threads for each column");
  const int column = block::thread() % columns;
  const float *row = from + (long long)max(first + column, 0) * depth;
  for (int d = block::thread() / columns; d < depth; d += block::threads / columns)
    to.at[d][column] = row[d] * factor;
}

/// to[r · target_columns + c] = from[r][c] for missing ≤ r. Neighbouring threads write neighbours.
template <class block, int target_columns, int rows, int columns>
__device__ __forceinline__ void unstage(float *to, const shared_tile<rows, columns> &from, int missing) {
  for (int i = block::thread(); i < rows * target_columns; i += block::threads) {
    const int row = i / target_columns, column = i % target_columns;
    if (row >= missing)
      to[(long long)row * target_columns + column] = from.at[row][column];
  }
}

/// to[column][row] = factor[column] · from[row][column]. An odd number of columns of `to` keeps the lanes, a row apart,
/// in banks of their own.
template <class fragment, int rows, int columns> __device__ __forceinline__ void
turn(shared_tile<rows, columns> &to, const fragment &from, const float (&factor)[fragment::width]) {
  static_assert(columns % 2 == 1, "a tile that is written turned over needs an odd number of columns: add one");
#pragma unroll
  for (int i = 0; i < fragment::height; ++i)
#pragma unroll
    for (int j = 0; j < fragment::width; ++j)
      to.at[fragment::column(j)][fragment::row(i)] = from.at[i][j] * factor[j];
}

namespace detail {
/// sum[i][j] += Σ_k left(i, k) · right[k][column j] for k < count.
template <class fragment, int height, int depth, int columns, class element>
__device__ __forceinline__ void multiply_add(float (&sum)[height][fragment::width], int count,
                                             const shared_tile<depth, columns> &right, const element &left) {
#pragma unroll 4
  for (int k = 0; k < count; ++k) {
    float row[fragment::width];
#pragma unroll
    for (int j = 0; j < fragment::width; ++j)
      row[j] = right.at[k][fragment::column(j)];
#pragma unroll
    for (int i = 0; i < height; ++i) {
      const float scalar = left(i, k);
#pragma unroll
      for (int j = 0; j < fragment::width; ++j)
        sum[i][j] += scalar * row[j];
    }
  }
}
} // namespace detail

/// sum += left · right over right's rows. What left has beyond is not read.
template <class fragment, int rows, int left_columns, int depth, int columns> __device__ __forceinline__ void
multiply_add(fragment &sum, const shared_tile<rows, left_columns> &left, const shared_tile<depth, columns> &right) {
  static_assert(left_columns >= depth, "the left side must be as wide as the right side is high");
  detail::multiply_add<fragment>(sum.at, depth, right, [&](int i, int d) { return left.at[fragment::row(i)][d]; });
}

/// sum[i][j] += Σ_k left[k][first_row + i] · right[k][column j] for k < count: a product with the left side turned
/// over.
template <int height, class fragment, int depth, int left_columns, int columns>
__device__ __forceinline__ void multiply_add_turned(float (&sum)[height][fragment::width],
                                                    const shared_tile<depth, left_columns> &left, int first_row,
                                                    const shared_tile<depth, columns> &right, int count) {
  detail::multiply_add<fragment>(sum, count, right, [&](int i, int k) { return left.at[k][first_row + i]; });
}

} // namespace tile
