// printf, assert and the allocator of device code: overloads beside the host's, which host code keeps.
//
// Device malloc and free are declared before any standard header that could lead `new` to the host's; a kernel that
// reaches them is refused by name (src/cuda/missing.cpp).
#pragma once
#include "opsight/attributes.h"

__device__ int printf(const char *format, ...) __asm__("__opsight_printf");
__device__ void __assert_fail(const char *message, const char *file, unsigned line, const char *function) noexcept
    __asm__("__opsight_assert");
__device__ void *malloc(__SIZE_TYPE__ size) noexcept __asm__("__opsight_missing_malloc");
__device__ void free(void *p) noexcept __asm__("__opsight_missing_free");
