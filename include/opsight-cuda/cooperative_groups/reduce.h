// Reductions over a group, and the functors they take. Every thread of the group gets the result; the order of sums is a
// butterfly, so all get the same bits.
#pragma once
#include "cooperative_groups.h"

namespace cooperative_groups {

template <class T> struct plus {
  __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
  __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
  __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
  __device__ T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
  __device__ T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
  __device__ T operator()(T a, T b) const { return a ^ b; }
};

template <unsigned Size, class Parent, class T, class Operation>
OPSIGHT_DEVICE T reduce(const thread_block_tile<Size, Parent> &tile, T value, Operation operation) {
#pragma unroll
  for (unsigned distance = Size / 2; distance > 0; distance /= 2)
    value = operation(value, tile.shfl_xor(value, distance));
  return value;
}

template <class T, class Operation>
OPSIGHT_DEVICE T reduce(const coalesced_group &group, T value, Operation operation) {
  T result = group.shfl(value, 0);
  for (unsigned rank = 1; rank < group.size(); ++rank)
    result = operation(result, group.shfl(value, rank));
  return result;
}

} // namespace cooperative_groups
