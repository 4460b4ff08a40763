// What a row is normalised with, for layernorm and rmsnorm: the second pass takes the mean off before it squares, so that
// no bits are lost where the mean is much larger than the deviation.
#pragma once
#include "../tile/row.h"

namespace normalisation {

struct moments {
  float mean, rstd;
};

template <bool centred> __device__ __forceinline__ moments moments_of(const float *__restrict__ x, int columns, float eps) {
  const float count = columns;
  float mean = 0.0f;
  if constexpr (centred)
    mean = tile::sum_over_row(columns, [&](auto piece, int column) { return piece.load(x + column, 0.0f); }) / count;
  const float squares = tile::sum_over_row(columns, [&](auto piece, int column) {
    const tile::lanes difference = piece.load(x + column, mean) - mean;
    return difference * difference;
  });
  return {mean, 1.0f / sqrtf(squares / count + eps)};
}

} // namespace normalisation
