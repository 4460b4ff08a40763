// Prefix operations over a tile: inclusive_scan's thread r gets the first r + 1 values combined, exclusive_scan's the
// first r (thread 0 a value-initialised T).
#pragma once
#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

template <unsigned Size, class Parent, class T, class Operation = plus<T>>
OPSIGHT_DEVICE T inclusive_scan(const thread_block_tile<Size, Parent> &tile, T value, Operation operation = {}) {
#pragma unroll
  for (unsigned distance = 1; distance < Size; distance *= 2) {
    T before = tile.shfl_up(value, distance);
    if (tile.thread_rank() >= distance)
      value = operation(before, value);
  }
  return value;
}

template <unsigned Size, class Parent, class T, class Operation = plus<T>>
OPSIGHT_DEVICE T exclusive_scan(const thread_block_tile<Size, Parent> &tile, T value, Operation operation = {}) {
  T before = tile.shfl_up(inclusive_scan(tile, value, operation), 1);
  return tile.thread_rank() == 0 ? T{} : before;
}

} // namespace cooperative_groups
