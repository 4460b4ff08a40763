// Partial sums that ran side by side, added in pairs: whatever the mapping, in the same order.
#pragma once

namespace tile {

/// The sum of all; `count` is a power of two. What `partial` holds is used up.
template <int count, class value> __device__ __forceinline__ value pairwise_sum(value (&partial)[count]) {
  static_assert((count & (count - 1)) == 0, "partial sums pair up: their number must be a power of two");
#pragma unroll
  for (int width = count / 2; width > 0; width /= 2)
#pragma unroll
    for (int j = 0; j < width; ++j)
      partial[j] += partial[j + width];
  return partial[0];
}

} // namespace tile
