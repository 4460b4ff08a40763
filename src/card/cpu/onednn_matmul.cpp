// The product of two matrices as oneDNN's primitive on shares of the rows; the epilogue is its post-operations.
#include "card/cpu/onednn.h"
#include <algorithm>

namespace opsight::card {

Result<double> runOneDnnMatmul(const LibraryArguments &arguments) {
  return callOneDnn(arguments, 10, [&] {
    int64_t M = valueAt<int64_t>(arguments, 5), N = valueAt<int64_t>(arguments, 6), K = valueAt<int64_t>(arguments, 7);
    bool transposed = valueAt<int32_t>(arguments, 8);
    int32_t epilogue = valueAt<int32_t>(arguments, 9); // none, bias, bias-gelu, bias-residual, bias-gelu-residual
    bool hasBias = epilogue > 0, hasGelu = epilogue == 2 || epilogue == 4, hasResidual = epilogue >= 3;
    if (K == 0)
      throw dnnl::error(dnnl_invalid_arguments, "no product of nothing");
    return onRows(M, [&](int64_t begin, int64_t count, unsigned) {
      auto a = matrixOf(count, K), b = matrixOf(K, N, transposed), bias = matrixOf(1, N), out = matrixOf(count, N);
      dnnl::post_ops after;
      if (hasGelu)
        after.append_eltwise(1, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
      if (hasResidual)
        after.append_binary(dnnl::algorithm::binary_add, out);
      dnnl::primitive_attr attributes = oneDnnAttributes();
      attributes.set_post_ops(after);
      dnnl::matmul::desc product = hasBias ? dnnl::matmul::desc(a, b, bias, out) : dnnl::matmul::desc(a, b, out);
      dnnl::matmul::primitive_desc description(product, attributes, oneDnnEngine());
      std::unordered_map<int, dnnl::memory> operands{
          {DNNL_ARG_SRC, memoryAt(a, valueAt<const float *>(arguments, 0) + begin * K)},
          {DNNL_ARG_WEIGHTS, memoryAt(b, valueAt<const float *>(arguments, 1))},
          {DNNL_ARG_DST, memoryAt(out, valueAt<float *>(arguments, 4) + begin * N)}};
      if (hasBias)
        operands[DNNL_ARG_BIAS] = memoryAt(bias, valueAt<const float *>(arguments, 2));
      if (hasResidual)
        operands[DNNL_ARG_ATTR_MULTIPLE_POST_OP(hasGelu ? 1 : 0) | DNNL_ARG_SRC_1] =
            memoryAt(out, valueAt<const float *>(arguments, 3) + begin * N);
      return OneDnnTask::of<dnnl::matmul>(description, std::move(operands));
    });
  });
}

} // namespace opsight::card
