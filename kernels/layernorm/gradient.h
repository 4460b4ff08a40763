// The gradients of layernorm and rmsnorm, shared by their kernels. One launch does both: the first blocks have some columns
// each and sum over all rows, for weight and bias; the others have some rows each. Nothing is added atomically, so that two
// runs agree to the last bit.
#pragma once
#include "../tile/row.h"

namespace normalisation {

/// What a kernel reads; without weight it is 1, without mean 0.
struct operands {
  const float *grad_output, *input, *weight, *mean, *rstd;
  int N, C;
};

/// A block of columns has this many, whole registers.
constexpr int columns_a_block = 128;

/// x̂ of a register.
template <bool centred>
__device__ __forceinline__ tile::lanes normalised(tile::lanes x, const operands &o, int row) {
  return centred ? (x - o.mean[row]) * o.rstd[row] : x * o.rstd[row];
}

/// A register of grad_output · weight.
template <bool weighed, class piece_type>
__device__ __forceinline__ tile::lanes gradient_of(const piece_type &piece, const operands &o, int row, int column) {
  const tile::lanes g = piece.load(o.grad_output + (long long)row * o.C + column, 0.0f);
  return weighed ? g * piece.load(o.weight + column, 0.0f) : g;
}
template <bool centred, class piece_type>
__device__ __forceinline__ tile::lanes normalised_of(const piece_type &piece, const operands &o, int row, int column) {
  return normalised<centred>(piece.load(o.input + (long long)row * o.C + column, 0.0f), o, row);
}

/// Σ g and Σ g x̂ of a row, in parts.
template <bool centred, bool weighed> struct row_sums {
  static constexpr int parts = 4;
  tile::lanes gradients[parts] = {}, products[parts] = {};
  template <class piece_type>
  __device__ __forceinline__ void take(const piece_type &piece, const operands &o, int row, int part, int column) {
    const tile::lanes g = gradient_of<weighed>(piece, o, row, column);
    if (centred)
      gradients[part] += g;
    products[part] += g * normalised_of<centred>(piece, o, row, column);
  }
};

/// Of rows [first, end): grad_input = rstd · (g - Σ g / C - x̂ · Σ g x̂ / C), the middle term where the mean was taken off.
/// The sums are taken a row ahead, while the row before it is written, so that memory is read meanwhile.
template <bool centred, bool weighed, bool adds>
__device__ __forceinline__ void input_gradients(float *__restrict__ to, const operands &o, int first, int end) {
  using sums_type = row_sums<centred, weighed>;
  sums_type sums;
  tile::over_row<sums_type::parts>(o.C, [&](auto piece, int part, int column) { sums.take(piece, o, first, part, column); });
#pragma unroll 1
  for (int row = first; row < end; ++row) {
    const float count = o.C, rstd = o.rstd[row];
    const float mean_gradient = centred ? tile::sum_across(tile::pairwise_sum(sums.gradients)) / count : 0.0f;
    const float mean_product = tile::sum_across(tile::pairwise_sum(sums.products)) / count;
    float *y = to + (long long)row * o.C;
    const int next = row + 1 < end ? row + 1 : row;
    sums_type ahead;
    tile::over_row<sums_type::parts>(o.C, [&](auto piece, int part, int column) {
      ahead.take(piece, o, next, part, column);
      const tile::lanes hat = normalised_of<centred>(piece, o, row, column);
      const tile::lanes value = rstd * (gradient_of<weighed>(piece, o, row, column) - mean_gradient - hat * mean_product);
      piece.store(y + column, adds ? piece.load(y + column, 0.0f) + value : value);
    });
    sums = ahead;
  }
}

/// grad_weight = Σ dy · x̂ and grad_bias = Σ dy over all rows, of the columns from `first` on. Rows are summed in parts,
/// and the parts then added, so that rounding grows with the part's length plus the number of parts.
template <bool centred, bool adds>
__device__ __forceinline__ void column_gradients(float *__restrict__ grad_weight, float *__restrict__ grad_bias,
                                                 const operands &o, int first) {
  constexpr int registers = columns_a_block / LANES, rows_a_part = 128;
  const int columns = min(columns_a_block, o.C - first);
  tile::lanes weights[registers] = {}, biases[registers] = {};
#pragma unroll 1
  for (int begin = 0; begin < o.N; begin += rows_a_part) {
    tile::lanes weight_part[registers] = {}, bias_part[registers] = {};
#pragma unroll 1
    for (int row = begin; row < min(begin + rows_a_part, o.N); ++row) {
      const float *x = o.input + (long long)row * o.C + first, *dy = o.grad_output + (long long)row * o.C + first;
      const auto add = [&](auto piece, int v) {
        const tile::lanes g = piece.load(dy + v * LANES, 0.0f);
        weight_part[v] += g * normalised<centred>(piece.load(x + v * LANES, 0.0f), o, row);
        bias_part[v] += g;
      };
      if (columns == columns_a_block) {
#pragma unroll
        for (int v = 0; v < registers; ++v)
          add(tile::whole_piece{}, v);
      } else {
#pragma unroll
        for (int v = 0; v < registers; ++v)
          if (v * LANES < columns)
            add(tile::last_piece{columns - v * LANES}, v);
      }
    }
#pragma unroll
    for (int v = 0; v < registers; ++v) {
      weights[v] += weight_part[v];
      biases[v] += bias_part[v];
    }
  }
#pragma unroll
  for (int v = 0; v < registers; ++v) {
    const tile::last_piece piece{min(max(columns - v * LANES, 0), LANES)};
    float *weight = grad_weight + first + v * LANES, *bias = grad_bias + first + v * LANES;
    piece.store(weight, adds ? piece.load(weight, 0.0f) + weights[v] : weights[v]);
    if (centred)
      piece.store(bias, adds ? piece.load(bias, 0.0f) + biases[v] : biases[v]);
  }
}

/// Block `index` of ceil_div(C, columns_a_block) + ceil_div(N, rows).
template <bool centred, bool weighed, int adds, int rows>
__device__ __forceinline__ void gradients(float *grad_input, float *grad_weight, float *grad_bias, const operands &o, int index) {
  const int column_blocks = (o.C + columns_a_block - 1) / columns_a_block;
  if (index < column_blocks) {
    column_gradients<centred, adds >= 1>(grad_weight, grad_bias, o, index * columns_a_block);
    return;
  }
  const int first = (index - column_blocks) * rows;
  input_gradients<centred, weighed, adds == 2>(grad_input, o, first, min(first + rows, o.N));
}

} // namespace normalisation
