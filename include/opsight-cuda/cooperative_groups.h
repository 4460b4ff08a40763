// Cooperative groups: the grid, the block, tiles of a warp, and the threads that run together. Groups of several grids and
// clusters are not there; asking for them names them (src/cuda/missing.cpp).
#pragma once
#include "opsight/prelude.h"

/// All threads of the launch meet.
__device__ void __opsight_grid_sync() __asm__("__opsight_grid_sync");

namespace cooperative_groups {

class thread_block {
public:
  __device__ static void sync() { __syncthreads(); }
  __device__ static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ static unsigned num_threads() { return size(); }
  __device__ static unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  __device__ static dim3 group_index() { return blockIdx; }
  __device__ static dim3 thread_index() { return threadIdx; }
  __device__ static dim3 group_dim() { return blockDim; }
  __device__ static dim3 dim_threads() { return blockDim; }
};
OPSIGHT_DEVICE thread_block this_thread_block() { return {}; }

/// Every launch may be a cooperative one here, so the group is always valid.
class grid_group {
public:
  class arrival_token {};
  __device__ static void sync() { __opsight_grid_sync(); }
  __device__ static bool is_valid() { return true; }
  /// Arriving announces nothing early: who waits meets all threads where they wait.
  __device__ static arrival_token barrier_arrive() { return {}; }
  __device__ static void barrier_wait(arrival_token &&) { sync(); }
  __device__ static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  __device__ static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
  __device__ static unsigned long long size() { return num_threads(); }
  __device__ static unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  __device__ static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  __device__ static dim3 block_index() { return blockIdx; }
  __device__ static dim3 dim_blocks() { return gridDim; }
  __device__ static dim3 group_dim() { return gridDim; }
};
OPSIGHT_DEVICE grid_group this_grid() { return {}; }

/// What tiles of a warp share; `base` is the lane of the tile's first thread. The tile's lanes are consecutive.
class __opsight_tile {
public:
  __device__ __opsight_tile(unsigned width) : width(width) {}
  __device__ void sync() const { __syncwarp(mask()); }
  __device__ unsigned size() const { return width; }
  __device__ unsigned num_threads() const { return width; }
  __device__ unsigned thread_rank() const { return thread_block::thread_rank() & (width - 1); }
  __device__ unsigned meta_group_rank() const { return thread_block::thread_rank() / width; }
  __device__ unsigned meta_group_size() const { return (thread_block::size() + width - 1) / width; }
  __device__ int any(int predicate) const { return __any_sync(mask(), predicate); }
  __device__ int all(int predicate) const { return __all_sync(mask(), predicate); }
  __device__ unsigned ballot(int predicate) const { return __ballot_sync(mask(), predicate) >> base() & all_lanes(); }
  template <class T> __device__ unsigned match_any(T v) const { return __match_any_sync(mask(), v) >> base(); }
  template <class T> __device__ unsigned match_all(T v, int &p) const {
    return __match_all_sync(mask(), v, &p) >> base();
  }
  template <class T> __device__ T shfl(T v, int rank) const { return __opsight__shfl_sync(mask(), v, rank, width); }
  template <class T> __device__ T shfl_up(T v, unsigned d) const { return __opsight__shfl_up_sync(mask(), v, d, width); }
  template <class T> __device__ T shfl_down(T v, unsigned d) const { return __opsight__shfl_down_sync(mask(), v, d, width); }
  template <class T> __device__ T shfl_xor(T v, int m) const { return __opsight__shfl_xor_sync(mask(), v, m, width); }
  __device__ unsigned __opsight_lanes() const { return mask(); }

private:
  __device__ unsigned all_lanes() const { return 0xffffffffu >> (32 - width); }
  __device__ unsigned base() const { return thread_block::thread_rank() & 31 & ~(width - 1); }
  __device__ unsigned mask() const { return all_lanes() << base(); }
  unsigned width;
};

template <unsigned Size, class Parent = void> class thread_block_tile : public __opsight_tile {
  static_assert(Size <= 32 && (Size & (Size - 1)) == 0, "tiles of more than a warp are not supported; use 1 to 32");

public:
  __device__ thread_block_tile() : __opsight_tile(Size) {}
  template <class Other> __device__ thread_block_tile(const thread_block_tile<Size, Other> &) : __opsight_tile(Size) {}
  __device__ static constexpr unsigned size() { return Size; }
  __device__ static constexpr unsigned num_threads() { return Size; }
};

template <unsigned Size, class Group> OPSIGHT_DEVICE thread_block_tile<Size, Group> tiled_partition(const Group &) {
  return {};
}

/// The threads of a warp that arrived together.
class coalesced_group {
public:
  __device__ coalesced_group(unsigned lanes) : lanes(lanes) {}
  __device__ unsigned __opsight_lanes() const { return lanes; }
  __device__ void sync() const { __syncwarp(lanes); }
  __device__ unsigned size() const { return __popc(lanes); }
  __device__ unsigned num_threads() const { return size(); }
  __device__ unsigned thread_rank() const { return __popc(lanes & ((1u << lane()) - 1)); }
  __device__ int any(int predicate) const { return __any_sync(lanes, predicate); }
  __device__ int all(int predicate) const { return __all_sync(lanes, predicate); }
  __device__ unsigned ballot(int predicate) const { return packed(__ballot_sync(lanes, predicate)); }
  template <class T> __device__ T shfl(T v, int rank) const { return __opsight__shfl_sync(lanes, v, lane_of(rank), 32); }
  template <class T> __device__ T shfl_up(T v, unsigned d) const {
    int rank = thread_rank();
    return __opsight__shfl_sync(lanes, v, lane_of(rank < (int)d ? rank : rank - d), 32);
  }
  template <class T> __device__ T shfl_down(T v, unsigned d) const {
    unsigned rank = thread_rank();
    return __opsight__shfl_sync(lanes, v, lane_of(rank + d >= size() ? rank : rank + d), 32);
  }

private:
  __device__ static unsigned lane() { return thread_block::thread_rank() & 31; }
  /// The lane of the thread with that rank.
  __device__ unsigned lane_of(unsigned rank) const {
    unsigned left = lanes;
    for (unsigned i = 0; i < rank; ++i)
      left &= left - 1;
    return __ffs(left) - 1;
  }
  __device__ unsigned packed(unsigned bits) const {
    unsigned r = 0, i = 0;
    for (unsigned left = lanes; left; left &= left - 1, ++i)
      r |= (bits >> (__ffs(left) - 1) & 1) << i;
    return r;
  }
  unsigned lanes;
};
OPSIGHT_DEVICE coalesced_group coalesced_threads() { return __activemask(); }

/// The threads of `group`, a tile or a coalesced group, that brought the same label.
template <class Group, class Label> OPSIGHT_DEVICE coalesced_group labeled_partition(const Group &group, Label label) {
  static_assert(__is_integral(Label), "a label is a whole number");
  if constexpr (sizeof(Label) <= 4)
    return __match_any_sync(group.__opsight_lanes(), (unsigned)label);
  else
    return __match_any_sync(group.__opsight_lanes(), (unsigned long long)label);
}
/// The threads of `group` for which the predicate is what it is for this one.
template <class Group> OPSIGHT_DEVICE coalesced_group binary_partition(const Group &group, bool predicate) {
  unsigned lanes = group.__opsight_lanes(), yes = __ballot_sync(lanes, predicate);
  return predicate ? yes : lanes & ~yes;
}

template <class Group> OPSIGHT_DEVICE void sync(const Group &group) { group.sync(); }
template <class Group> OPSIGHT_DEVICE auto thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> OPSIGHT_DEVICE auto group_size(const Group &group) { return group.size(); }

} // namespace cooperative_groups
