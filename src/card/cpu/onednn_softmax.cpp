// softmax and log-softmax, forward and backward, as oneDNN's primitives on shares of the rows.
#include "card/cpu/onednn.h"

namespace opsight::card {
namespace {

constexpr int lastAxis = 1;

template <class Forward>
OneDnnTask forward(const dnnl::memory::desc &rows, const float *input, float *output) {
  typename Forward::primitive_desc description(
      typename Forward::desc(dnnl::prop_kind::forward_inference, rows, lastAxis), oneDnnAttributes(), oneDnnEngine());
  return OneDnnTask::of<Forward>(description, {{DNNL_ARG_SRC, memoryAt(rows, input)}, {DNNL_ARG_DST, memoryAt(rows, output)}});
}

template <class Forward, class Backward>
OneDnnTask backward(const dnnl::memory::desc &rows, const float *output, const float *gradient, float *result) {
  typename Forward::primitive_desc hint(typename Forward::desc(dnnl::prop_kind::forward_training, rows, lastAxis), oneDnnEngine());
  typename Backward::primitive_desc description(typename Backward::desc(rows, rows, lastAxis), oneDnnAttributes(),
                                                oneDnnEngine(), hint);
  return OneDnnTask::of<Backward>(description, {{DNNL_ARG_DST, memoryAt(rows, output)},
                                                {DNNL_ARG_DIFF_DST, memoryAt(rows, gradient)},
                                                {DNNL_ARG_DIFF_SRC, memoryAt(rows, result)}});
}

} // namespace

Result<double> runOneDnnSoftmax(const LibraryArguments &arguments) {
  return callOneDnn(arguments, 5, [&] {
    int64_t N = valueAt<int64_t>(arguments, 2), C = valueAt<int64_t>(arguments, 3);
    return onRows(N, [&](int64_t begin, int64_t count, unsigned) {
      const float *input = valueAt<const float *>(arguments, 0) + begin * C;
      float *output = valueAt<float *>(arguments, 1) + begin * C;
      auto make = valueAt<int32_t>(arguments, 4) ? forward<dnnl::logsoftmax_forward> : forward<dnnl::softmax_forward>;
      return make(matrixOf(count, C), input, output);
    });
  });
}

Result<double> runOneDnnSoftmaxBackward(const LibraryArguments &arguments) {
  return callOneDnn(arguments, 6, [&] {
    int64_t N = valueAt<int64_t>(arguments, 3), C = valueAt<int64_t>(arguments, 4);
    return onRows(N, [&](int64_t begin, int64_t count, unsigned) {
      const float *output = valueAt<const float *>(arguments, 0) + begin * C;
      const float *gradient = valueAt<const float *>(arguments, 1) + begin * C;
      auto make = valueAt<int32_t>(arguments, 5) ? backward<dnnl::logsoftmax_forward, dnnl::logsoftmax_backward>
                                                 : backward<dnnl::softmax_forward, dnnl::softmax_backward>;
      return make(matrixOf(count, C), output, gradient, valueAt<float *>(arguments, 2) + begin * C);
    });
  });
}

} // namespace opsight::card
