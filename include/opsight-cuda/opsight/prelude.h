// What every CUDA file sees before its first line, as nvcc arranges by including cuda_runtime.h: keywords, builtin
// variables, vector types, mathematics, warps, atomics, and the host's runtime as declarations.
#pragma once
#ifndef __CUDACC__
#define __CUDACC__
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 0
#define __NVCC__
#endif
#include "opsight/attributes.h"
#include "opsight/speak.h"
#include "opsight/vector_types.h"
#include "opsight/math.h"
#include "opsight/warp.h"
#include "opsight/memory.h"
#include "opsight/runtime_api.h"
#include <assert.h>
#include <math.h> // isfinite, isnan … of host code, which nvcc knows, too
#include <stdint.h> // which cuda.h and cublas_v2.h bring
#include <stdio.h>
#include <time.h>
#define OPSIGHT_PRELUDE_DONE 1
