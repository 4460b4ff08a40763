// See bitcode_library.h.
#include "lower/bitcode_library.h"
#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/MemoryBuffer.h>

namespace opsight::lower {

static void makeNeutral(llvm::Module &library, const llvm::Module &module) {
  library.setTargetTriple(module.getTargetTriple());
  library.setDataLayout(module.getDataLayout());
  for (const char *name : {"llvm.module.flags", "llvm.ident", "llvm.errno.tbaa"})
    if (llvm::NamedMDNode *node = library.getNamedMetadata(name))
      node->eraseFromParent();
  for (llvm::Function &function : library) {
    if (function.isDeclaration())
      continue;
    function.setAttributes({});
    // A lane that is masked off may hold poison; `noundef` would make that undefined behaviour.
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        call->setAttributes({});
  }
}

Result<std::unique_ptr<llvm::Module>> openBitcode(const char *name, const unsigned char *bytes, size_t size,
                                                  const llvm::Module &module) {
  llvm::StringRef text(reinterpret_cast<const char *>(bytes), size);
  auto library = llvm::parseBitcodeFile(llvm::MemoryBufferRef(text, name), module.getContext());
  if (!library)
    return internalError(fmt::format("the {} library cannot be read: {}", name, llvm::toString(library.takeError())));
  makeNeutral(**library, module);
  return std::move(*library);
}

} // namespace opsight::lower
