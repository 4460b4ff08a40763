// contract_multiply_add: a product whose every use is a sum that may fuse with it becomes fused multiply-adds. nvcc and
// Clang fuse by default, but SPIR-V as LLVM writes it forbids drivers to (ContractionOff), so it is done here.
#include "lower/multiply_add.h"
#include "lower/spirv/passes.h"

namespace opsight::lower::spirv {

static Status run(Context &context) {
  fuseMultiplyAdds(*context.kernel, [](const llvm::Type *) { return true; });
  return {};
}

const Pass contract_multiply_add{"contract_multiply_add", "fuse products into sums, as nvcc does", run};

} // namespace opsight::lower::spirv
