#include "cuda/module.h"
#include <algorithm>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/raw_ostream.h>

namespace opsight::cuda {

size_t Facts::count(Fact::Kind kind) const {
  return std::ranges::count_if(all, [&](const Fact &fact) { return fact.kind == kind; });
}

Module &Module::operator=(Module &&other) {
  ir = std::move(other.ir);
  context = std::move(other.context);
  kernel = std::move(other.kernel);
  sourceFile = std::move(other.sourceFile);
  return *this;
}

Module Module::clone() const {
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream out(bitcode);
  llvm::WriteBitcodeToFile(*ir, out);
  Module copy;
  copy.context = std::make_unique<llvm::LLVMContext>();
  llvm::MemoryBufferRef buffer(llvm::StringRef(bitcode.data(), bitcode.size()), ir->getModuleIdentifier());
  // Bitcode written a line ago by the same library cannot be unreadable.
  copy.ir = llvm::cantFail(llvm::parseBitcodeFile(buffer, *copy.context));
  copy.kernel = kernel;
  copy.sourceFile = sourceFile;
  return copy;
}

} // namespace opsight::cuda
