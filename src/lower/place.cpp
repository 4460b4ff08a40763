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

std::string readableName(llvm::StringRef symbol) {
  // What stands in the IR for instructions of PTX (cuda/matrix.h, cuda/ptx/shared_numbers.h).
  static constexpr std::pair<llvm::StringRef, const char *> ofPtx[] = {
      {"__opsight_mma_", "the PTX instruction mma.sync"},
      {"__opsight_ldmatrix_", "the PTX instruction ldmatrix"},
      {"__opsight_shared_", "an address of shared memory as a number"}};
  for (auto [start, words] : ofPtx)
    if (symbol.starts_with(start))
      return words;
  return llvm::demangle(symbol.str());
}

} // namespace opsight::lower
