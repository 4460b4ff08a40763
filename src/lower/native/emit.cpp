#include "lower/native/emit.h"
#include "lower/native/host.h"
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace opsight::lower::native {

static Result<std::string> generate(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return internalError("LLVM cannot write this kind of file for the host");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

Result<Code> emit(llvm::Module &module, const std::string &processor) {
  auto machine = targetMachine(processor);
  if (!machine)
    return std::unexpected(machine.error());
  // The code generator changes the module it works on.
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  auto object = generate(module, **machine, llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return std::unexpected(object.error());
  auto assembly = generate(*copy, **machine, llvm::CodeGenFileType::AssemblyFile);
  if (!assembly)
    return std::unexpected(assembly.error());
  return Code{std::move(*object), std::move(*assembly)};
}

} // namespace opsight::lower::native
