#include "cuda/compile.h"
#include "base/file.h"
#include "cuda/accesses.h"
#include "cuda/compile_cache.h"
#include "cuda/dialect.h"
#include "cuda/frontend.h"
#include "cuda/isolate.h"
#include "cuda/pipeline.h"
#include "cuda/transfer.h"

namespace opsight::cuda {
namespace {

/// The whole way, in the child.
Result<Module> compileHere(const CompileRequest &request) {
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
} // namespace

Result<std::string> sourceOf(const CompileRequest &request) {
  return request.text.empty() ? readFile(request.file) : Result<std::string>(request.text);
}

Result<std::vector<std::string>> listKernels(const CompileRequest &request) {
  auto bytes = runIsolated(request.file, {}, [&] { return packNames(parseKernelNames(request)); });
  return bytes ? unpackNames(*bytes) : std::unexpected(bytes.error());
}

Result<Module> compile(const CompileRequest &request) {
  if (request.optimization != 0 && request.optimization != 3)
    return userError("optimization " + std::to_string(request.optimization) + " is neither 0 nor 3");
  std::string key = moduleKey(request); // before Clang reads the source, which may change meanwhile
  if (auto kept = keptModule(key))
    if (auto module = unpackModule(*kept))
      return module;
  auto bytes = runIsolated(request.file, {}, [&] { return packModule(compileHere(request)); });
  if (!bytes)
    return std::unexpected(bytes.error());
  Result<Module> module = unpackModule(*bytes);
  if (module)
    keepModule(key, module->files, *bytes);
  return module;
}

} // namespace opsight::cuda
