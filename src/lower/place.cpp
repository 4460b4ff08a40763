// From an instruction back to the user's line.
#include "lower/pass.h"
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>

namespace opsight::lower {

static bool isOurHeader(llvm::StringRef path) {
  return path.contains("opsight-cuda") || path.contains("__clang_cuda");
}

SourcePlace placeOf(const llvm::Instruction &instruction) {
  const llvm::DILocation *location = instruction.getDebugLoc().get();
  while (location && location->getInlinedAt() && (location->getLine() == 0 || isOurHeader(location->getFilename())))
    location = location->getInlinedAt();
  if (!location)
    return {};
  llvm::StringRef folder = location->getDirectory(), name = location->getFilename();
  bool absolute = name.starts_with("/") || folder.empty();
  return {absolute ? name.str() : (folder + "/" + name).str(), location->getLine(), location->getColumn()};
}

std::string readableName(llvm::StringRef symbol) { return llvm::demangle(symbol.str()); }

} // namespace opsight::lower
