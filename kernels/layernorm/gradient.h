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
constexpr int columns_a_block = 64;

/// x̂ of a register.
template <bool centred>
__device__ __forceinline__ tile::lanes normalised(tile::lanes x, const operands &o, int row) {
  return centred ? (x - o.mean[row]) * o.rstd[row] : x * o.rstd[row];
}

/// grad_input = rstd · (g - Σ g / C - x̂ · Σ g x̂ / C), the middle term where the mean was taken off.
template <bool centred, bool weighed, bool adds>
__device__ __forceinline__ void input_gradient(float *__restrict__ to, const operands &o, int row) {
  const float *x = o.input + (long long)row * o.C, *dy = o.grad_output + (long long)row * o.C;
  const auto gradient = [&](auto piece, int column) {
    const tile::lanes g = piece.load(dy + column, 0.0f);
    return weighed ? g * piece.load(o.weight + column, 0.0f) : g;
  };
  constexpr int parts = 4;
  tile::lanes gradients[parts] = {}, products[parts] = {};
  tile::over_row<parts>(o.C, [&](auto piece, int part, int column) {
    const tile::lanes g = gradient(piece, column);
    if (centred)
      gradients[part] += g;
    products[part] += g * normalised<centred>(piece.load(x + column, 0.0f), o, row);
  });
  const float count = o.C, rstd = o.rstd[row];
  const float first = centred ? tile::sum_across(tile::pairwise_sum(gradients)) / count : 0.0f;
  const float second = tile::sum_across(tile::pairwise_sum(products)) / count;
  to += (long long)row * o.C;
  tile::over_row<parts>(o.C, [&](auto piece, int, int column) {
    const tile::lanes hat = normalised<centred>(piece.load(x + column, 0.0f), o, row);
    const tile::lanes value = rstd * (gradient(piece, column) - first - hat * second);
    piece.store(to + column, adds ? piece.load(to + column, 0.0f) + value : value);
  });
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
  const int first = (index - column_blocks) * rows, end = min(first + rows, o.N);
#pragma unroll 1
  for (int row = first; row < end; ++row)
    input_gradient<centred, weighed, adds == 2>(grad_input, o, row);
}

} // namespace normalisation
