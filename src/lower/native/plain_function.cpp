// A function of plain C++ needs no pass of ours: Clang has optimised it, and its entry is the ABI's already.
#include "lower/lower.h"
#include "lower/native/emit.h"

namespace opsight::lower {

Result<card::Artifact> toHost(const cuda::Module &module) {
  card::Manifest manifest;
  manifest.kernel = module.kernel.name;
  manifest.entry = module.kernel.symbol;
  manifest.format = card::Format::Host;
  for (const cuda::KernelParameter &parameter : module.kernel.parameters) {
    bool isPointer = parameter.kind == cuda::KernelParameter::Kind::Pointer;
    manifest.parameters.push_back({.name = parameter.name,
                                   .kind = isPointer ? card::Parameter::Kind::Buffer : card::Parameter::Kind::Scalar,
                                   .bytes = parameter.bytes, .alignment = parameter.alignment, .type = parameter.type});
  }
  auto code = native::emit(*module.ir, "native");
  if (!code)
    return std::unexpected(code.error());
  auto library = native::link(code->object, manifest.entry, native::Needs::CppLibrary);
  if (!library)
    return std::unexpected(library.error());
  return card::Artifact{std::move(manifest), std::move(*library), std::move(code->assembly)};
}

} // namespace opsight::lower
