// Names of PyTorch's C++ interface that signatures of host functions and statements at file scope are made of. Seen only
// where host code is skipped (src/cuda/frontend.cpp) and the library's own headers count as empty: a kernel of an extension
// is compiled without its bindings.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "opsight/prelude.h"
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace c10 {
class Device {};
class Scalar {};
class TensorOptions {};
enum class ScalarType : int8_t {};
using Half = half;
using BFloat16 = __nv_bfloat16;
template <class T> class ArrayRef {};
using IntArrayRef = ArrayRef<int64_t>;
using std::optional;
} // namespace c10

namespace at {
using namespace c10;
class Tensor {};
using TensorList = ArrayRef<Tensor>;
} // namespace at

namespace torch {
using namespace at;
using Dtype = ScalarType;
class Library {};
} // namespace torch

namespace pybind11 {
class module_ {};
class object {};
} // namespace pybind11
namespace py = pybind11;

#define OPSIGHT_JOINED(A, B) A##B
#define OPSIGHT_NUMBERED(A, N) OPSIGHT_JOINED(A, N)
#define PYBIND11_MODULE(NAME, M) static void OPSIGHT_NUMBERED(opsight_bindings, __COUNTER__)(pybind11::module_ & M)
#define TORCH_LIBRARY(NAME, M) static void OPSIGHT_NUMBERED(opsight_bindings, __COUNTER__)(torch::Library & M)
#define TORCH_LIBRARY_FRAGMENT(NAME, M) TORCH_LIBRARY(NAME, M)
#define TORCH_LIBRARY_IMPL(NAME, KEY, M) TORCH_LIBRARY(NAME, M)
