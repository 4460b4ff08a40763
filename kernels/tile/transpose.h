// A square of LANES registers turned over in registers: LANES·log2(LANES) shuffles, no memory traffic.
// Tensors lie row-major while tiles keep rows in lanes, so what a thread loads once a tile is turned with this.
#pragma once
#include "lanes.h"

namespace tile {

namespace detail {
/// One round: exchanges the blocks of `width` lanes that lie off the diagonal of every 2·width square.
template <int width> __device__ __forceinline__ void exchange(lanes &a, lanes &b) {
  const lanes x = a, y = b;
#if LANES == 16
  if constexpr (width == 8) {
    a = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
    b = __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  } else if constexpr (width == 4) {
    a = __builtin_shufflevector(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
    b = __builtin_shufflevector(x, y, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  } else if constexpr (width == 2) {
    a = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
    b = __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  } else {
    a = __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
    b = __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
  }
#else
  if constexpr (width == 4) {
    a = __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11);
    b = __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15);
  } else if constexpr (width == 2) {
    a = __builtin_shufflevector(x, y, 0, 1, 8, 9, 4, 5, 12, 13);
    b = __builtin_shufflevector(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
  } else {
    a = __builtin_shufflevector(x, y, 0, 8, 2, 10, 4, 12, 6, 14);
    b = __builtin_shufflevector(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
  }
#endif
}

template <int width> __device__ __forceinline__ void exchange_all(lanes (&square)[LANES]) {
#pragma unroll
  for (int i = 0; i < LANES; ++i)
    if ((i & width) == 0)
      exchange<width>(square[i], square[i + width]);
  if constexpr (width > 1)
    exchange_all<width / 2>(square);
}
} // namespace detail

/// square[i][j] becomes square[j][i].
__device__ __forceinline__ void transpose(lanes (&square)[LANES]) { detail::exchange_all<LANES / 2>(square); }

} // namespace tile
