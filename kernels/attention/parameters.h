// The macros of the attention kernels, as launch files and recipes set them, and what they stand for.
#pragma once

#ifndef HEAD_DIM
#define HEAD_DIM 64 // of query and key
#endif
#ifndef VALUE_DIM
#define VALUE_DIM HEAD_DIM
#endif
#ifndef MASK
#define MASK 0 // 0 none, 1 bool, 2 additive
#endif

#if MASK == 1
using mask_element = unsigned char; // bool: 0 hides the key
#else
using mask_element = float; // added to the scaled score
#endif

namespace attention {

/// What a mask's element adds to a score; -infinity hides the key.
__device__ __forceinline__ float mask_bias(unsigned char keep) { return keep ? 0.0f : -__builtin_inff(); }
__device__ __forceinline__ float mask_bias(float added) { return added; }

} // namespace attention
