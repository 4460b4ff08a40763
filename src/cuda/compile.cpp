#include "cuda/compile.h"
#include "cuda/accesses.h"
#include "cuda/dialect.h"
#include "cuda/frontend.h"
#include "cuda/pipeline.h"

namespace opsight::cuda {

Result<std::vector<std::string>> listKernels(const CompileRequest &request) { return parseKernelNames(request); }

Result<Module> compile(const CompileRequest &request) {
  Result<Module> module = parseKernel(request);
  if (!module)
    return module;
  if (Status reduced = reduceToKernel(*module->ir, module->kernel.symbol); !reduced)
    return std::unexpected(reduced.error());
  optimise(*module->ir, request.optimization);
  if (Status checked = checkDialect(*module->ir); !checked)
    return std::unexpected(checked.error());
  addAccessFacts(*module->ir, module->kernel.facts);
  return module;
}

} // namespace opsight::cuda
