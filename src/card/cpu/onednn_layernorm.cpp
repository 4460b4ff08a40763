// Layer normalisation, forward and backward, as oneDNN's primitives on shares of the rows.
#include "card/cpu/onednn.h"
#include <algorithm>

namespace opsight::card {
namespace {

using Flags = dnnl::normalization_flags;

dnnl::memory::desc vectorOf(int64_t count) {
  return {{count}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a};
}

} // namespace

Result<double> runOneDnnLayernorm(const LibraryArguments &arguments) {
  return callOneDnn(arguments, 8, [&] {
    int64_t N = valueAt<int64_t>(arguments, 4), C = valueAt<int64_t>(arguments, 5);
    int32_t affine = valueAt<int32_t>(arguments, 6); // 0 weight and bias, 1 weight, 2 none
    Flags flags = affine == 0 ? Flags::use_scale | Flags::use_shift : affine == 1 ? Flags::use_scale : Flags::none;
    return onRows(N, [&](int64_t begin, int64_t count, unsigned) {
      auto rows = matrixOf(count, C);
      dnnl::layer_normalization_forward::primitive_desc description(
          dnnl::layer_normalization_forward::desc(dnnl::prop_kind::forward_inference, rows, valueAt<float>(arguments, 7), flags),
          oneDnnAttributes(), oneDnnEngine());
      return OneDnnTask::of<dnnl::layer_normalization_forward>(
          description, {{DNNL_ARG_SRC, memoryAt(rows, valueAt<const float *>(arguments, 0) + begin * C)},
                        {DNNL_ARG_SCALE, memoryAt(vectorOf(C), valueAt<const float *>(arguments, 1))},
                        {DNNL_ARG_SHIFT, memoryAt(vectorOf(C), valueAt<const float *>(arguments, 2))},
                        {DNNL_ARG_DST, memoryAt(rows, valueAt<float *>(arguments, 3) + begin * C)}});
    });
  });
}

/// The library takes the variance, which is made of rstd before anything is timed.
Result<double> runOneDnnLayernormBackward(const LibraryArguments &arguments) {
  return callOneDnn(arguments, 10, [&] {
    constexpr float eps = 1e-5f;
    int64_t N = valueAt<int64_t>(arguments, 8), C = valueAt<int64_t>(arguments, 9);
    const float *rstd = valueAt<const float *>(arguments, 4);
    std::vector<float> variance(static_cast<size_t>(N));
    for (int64_t r = 0; r < N; ++r)
      variance[size_t(r)] = float(1 / (double(rstd[r]) * double(rstd[r])) - double(eps));
    unsigned shares = oneDnnPool().size();
    std::vector<std::vector<float>> weights(shares, std::vector<float>(size_t(C))), biases = weights;
    Flags flags = Flags::use_scale | Flags::use_shift;
    double seconds = onRows(N, [&](int64_t begin, int64_t count, unsigned share) {
      auto rows = matrixOf(count, C), perRow = vectorOf(count), perColumn = vectorOf(C);
      dnnl::layer_normalization_forward::primitive_desc hint(
          dnnl::layer_normalization_forward::desc(dnnl::prop_kind::forward_training, rows, perRow, eps, flags), oneDnnEngine());
      dnnl::layer_normalization_backward::primitive_desc description(
          dnnl::layer_normalization_backward::desc(dnnl::prop_kind::backward, rows, rows, perRow, eps, flags),
          oneDnnAttributes(), oneDnnEngine(), hint);
      return OneDnnTask::of<dnnl::layer_normalization_backward>(
          description, {{DNNL_ARG_DIFF_DST, memoryAt(rows, valueAt<const float *>(arguments, 0) + begin * C)},
                        {DNNL_ARG_SRC, memoryAt(rows, valueAt<const float *>(arguments, 1) + begin * C)},
                        {DNNL_ARG_SCALE, memoryAt(perColumn, valueAt<const float *>(arguments, 2))},
                        {DNNL_ARG_SHIFT, memoryAt(perColumn, valueAt<const float *>(arguments, 2))}, // asked for, never read
                        {DNNL_ARG_MEAN, memoryAt(perRow, valueAt<const float *>(arguments, 3) + begin)},
                        {DNNL_ARG_VARIANCE, memoryAt(perRow, variance.data() + begin)},
                        {DNNL_ARG_DIFF_SRC, memoryAt(rows, valueAt<float *>(arguments, 5) + begin * C)},
                        {DNNL_ARG_DIFF_SCALE, memoryAt(perColumn, weights[share].data())},
                        {DNNL_ARG_DIFF_SHIFT, memoryAt(perColumn, biases[share].data())}});
    });
    for (int64_t j = 0; j < C; ++j) {
      float weight = 0, bias = 0;
      for (unsigned share = 0; share < shares; ++share)
        weight += weights[share][size_t(j)], bias += biases[share][size_t(j)];
      valueAt<float *>(arguments, 6)[j] = weight, valueAt<float *>(arguments, 7)[j] = bias;
    }
    return seconds;
  });
}

} // namespace opsight::card
