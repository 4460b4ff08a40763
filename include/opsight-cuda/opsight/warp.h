// Barriers, shuffles, votes, matches and reductions of a warp, and the builtin variables. Every shuffle is made of the
// 32-bit integer one.
#pragma once
#include "opsight/attributes.h"
#include "opsight/vector_types.h"
#include <__clang_cuda_builtin_vars.h>

__device__ inline __cuda_builtin_threadIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_threadIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_blockIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_blockDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockDim_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_gridDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_gridDim_t::operator uint3() const { return {x, y, z}; }

// Clang declares __syncthreads itself.
OPSIGHT_DEVICE void __syncwarp(unsigned mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }
OPSIGHT_DEVICE int __all_sync(unsigned mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
OPSIGHT_DEVICE int __any_sync(unsigned mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
OPSIGHT_DEVICE unsigned __ballot_sync(unsigned mask, int predicate) { return __nvvm_vote_ballot_sync(mask, predicate); }
OPSIGHT_DEVICE int __uni_sync(unsigned mask, int predicate) {
  unsigned yes = __ballot_sync(mask, predicate);
  return yes == 0 || yes == (mask & __nvvm_vote_ballot_sync(mask, 1));
}
OPSIGHT_DEVICE unsigned __activemask() { return __nvvm_activemask(); }
OPSIGHT_DEVICE void __nanosleep(unsigned) {}

// Two bytes go as one word, anything larger word by word.
#define OPSIGHT_SHUFFLE(NAME, INTRINSIC, LANE, CLAMP)                                                                  \
  template <class T> OPSIGHT_DEVICE T __opsight##NAME(unsigned mask, T value, LANE lane, int width) {                  \
    int clamp = ((32 - width) << 8) | CLAMP;                                                                           \
    if constexpr (sizeof(T) == 2) {                                                                                    \
      return __builtin_bit_cast(T, (short)INTRINSIC(mask, __builtin_bit_cast(short, value), lane, clamp));             \
    } else {                                                                                                           \
      static_assert(sizeof(T) % 4 == 0, "a shuffle moves values of 2 bytes or of whole words");                        \
      struct words {                                                                                                   \
        int word[sizeof(T) / 4];                                                                                       \
      };                                                                                                               \
      words all = __builtin_bit_cast(words, value);                                                                    \
      _Pragma("unroll") for (unsigned i = 0; i < sizeof(T) / 4; ++i)                                                   \
          all.word[i] = INTRINSIC(mask, all.word[i], lane, clamp);                                                     \
      return __builtin_bit_cast(T, all);                                                                               \
    }                                                                                                                  \
  }                                                                                                                    \
  OPSIGHT_SHUFFLE_OF(NAME, int, LANE)                                                                                  \
  OPSIGHT_SHUFFLE_OF(NAME, unsigned int, LANE)                                                                         \
  OPSIGHT_SHUFFLE_OF(NAME, long, LANE)                                                                                 \
  OPSIGHT_SHUFFLE_OF(NAME, unsigned long, LANE)                                                                        \
  OPSIGHT_SHUFFLE_OF(NAME, long long, LANE)                                                                            \
  OPSIGHT_SHUFFLE_OF(NAME, unsigned long long, LANE)                                                                   \
  OPSIGHT_SHUFFLE_OF(NAME, float, LANE)                                                                                \
  OPSIGHT_SHUFFLE_OF(NAME, double, LANE)
#define OPSIGHT_SHUFFLE_OF(NAME, TYPE, LANE)                                                                           \
  OPSIGHT_DEVICE TYPE NAME(unsigned mask, TYPE value, LANE lane, int width = 32) {                                     \
    return __opsight##NAME(mask, value, lane, width);                                                                  \
  }
OPSIGHT_SHUFFLE(__shfl_sync, __nvvm_shfl_sync_idx_i32, int, 31)
OPSIGHT_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_i32, unsigned, 0)
OPSIGHT_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_i32, unsigned, 31)
OPSIGHT_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int, 31)
#undef OPSIGHT_SHUFFLE

// 64 bits are the same where both of their words are.
#define OPSIGHT_MATCH(TYPE)                                                                                            \
  OPSIGHT_DEVICE unsigned __match_any_sync(unsigned mask, TYPE value) {                                                \
    return __nvvm_match_any_sync_i32(mask, __builtin_bit_cast(unsigned, value));                                       \
  }                                                                                                                    \
  OPSIGHT_DEVICE unsigned __match_all_sync(unsigned mask, TYPE value, int *predicate) {                                \
    return __nvvm_match_all_sync_i32p(mask, __builtin_bit_cast(unsigned, value), predicate);                           \
  }
#define OPSIGHT_MATCH_WIDE(TYPE)                                                                                       \
  OPSIGHT_DEVICE unsigned __match_any_sync(unsigned mask, TYPE value) {                                                \
    unsigned long long bits = __builtin_bit_cast(unsigned long long, value);                                           \
    return __nvvm_match_any_sync_i32(mask, bits) & __nvvm_match_any_sync_i32(mask, bits >> 32);                        \
  }                                                                                                                    \
  OPSIGHT_DEVICE unsigned __match_all_sync(unsigned mask, TYPE value, int *predicate) {                                \
    unsigned long long bits = __builtin_bit_cast(unsigned long long, value);                                           \
    int low, high;                                                                                                     \
    unsigned same = __nvvm_match_all_sync_i32p(mask, bits, &low) & __nvvm_match_all_sync_i32p(mask, bits >> 32, &high);\
    *predicate = low && high;                                                                                          \
    return same;                                                                                                       \
  }
OPSIGHT_MATCH(int)
OPSIGHT_MATCH(unsigned)
OPSIGHT_MATCH(float)
OPSIGHT_MATCH_WIDE(long)
OPSIGHT_MATCH_WIDE(unsigned long)
OPSIGHT_MATCH_WIDE(long long)
OPSIGHT_MATCH_WIDE(unsigned long long)
OPSIGHT_MATCH_WIDE(double)
#undef OPSIGHT_MATCH_WIDE
#undef OPSIGHT_MATCH

OPSIGHT_DEVICE int __reduce_add_sync(unsigned mask, int v) { return __nvvm_redux_sync_add(v, mask); }
OPSIGHT_DEVICE int __reduce_min_sync(unsigned mask, int v) { return __nvvm_redux_sync_min(v, mask); }
OPSIGHT_DEVICE int __reduce_max_sync(unsigned mask, int v) { return __nvvm_redux_sync_max(v, mask); }
OPSIGHT_DEVICE unsigned __reduce_add_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_add(v, mask); }
OPSIGHT_DEVICE unsigned __reduce_min_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_umin(v, mask); }
OPSIGHT_DEVICE unsigned __reduce_max_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_umax(v, mask); }
OPSIGHT_DEVICE unsigned __reduce_and_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_and(v, mask); }
OPSIGHT_DEVICE unsigned __reduce_or_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_or(v, mask); }
OPSIGHT_DEVICE unsigned __reduce_xor_sync(unsigned mask, unsigned v) { return __nvvm_redux_sync_xor(v, mask); }
