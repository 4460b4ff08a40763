#include "card/cpu/library.h"
#include "card/cpu/onednn.h"
#include <oneapi/dnnl/dnnl.h>

namespace opsight::card {

namespace {
constexpr LibraryFunction functions[] = {
    {"onednn/scaled_dot_product_attention", runOneDnnAttention},
    {"onednn/softmax", runOneDnnSoftmax},
    {"onednn/softmax_backward", runOneDnnSoftmaxBackward},
    {"onednn/layernorm", runOneDnnLayernorm},
    {"onednn/layernorm_backward", runOneDnnLayernormBackward},
    {"onednn/matmul", runOneDnnMatmul},
};
}

std::string libraryVersion() {
  const dnnl_version_t *version = dnnl_version();
  return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

const LibraryFunction *findLibraryFunction(std::string_view name) {
  for (const LibraryFunction &function : functions)
    if (name == function.name)
      return &function;
  return nullptr;
}

} // namespace opsight::card
