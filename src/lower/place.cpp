// From an instruction back to the user's line.
#include "lower/pass.h"
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>

namespace opsight::lower {

static bool isOurHeader(llvm::StringRef path) {
  return path.contains("opsight-cuda") || path.contains("__clang_cuda");
}

/// Where LLVM has merged or moved an instruction it leaves no place: then that of what uses it first, some steps on.
static const llvm::DILocation *locationOf(const llvm::Instruction &instruction, unsigned steps) {
  const llvm::DILocation *own = instruction.getDebugLoc().get();
  if (own && (own->getLine() != 0 || own->getInlinedAt()))
    return own;
  for (const llvm::User *user : instruction.users())
    if (const auto *next = llvm::dyn_cast<llvm::Instruction>(user); next && steps > 0)
      if (const llvm::DILocation *found = locationOf(*next, steps - 1); found && found->getLine() != 0)
        return found;
  return own;
}

SourcePlace placeOf(const llvm::Instruction &instruction) {
  const llvm::DILocation *location = locationOf(instruction, 4);
  while (location && location->getInlinedAt() && (location->getLine() == 0 || isOurHeader(location->getFilename())))
    location = location->getInlinedAt();
  if (!location)
    return {};
  llvm::StringRef folder = location->getDirectory(), name = location->getFilename();
  bool absolute = name.starts_with("/") || folder.empty();
  return {absolute ? name.str() : (folder + "/" + name).str(), location->getLine(), location->getColumn()};
}

std::string readableName(llvm::StringRef symbol) {
  // What stands in the IR for instructions of PTX (cuda/matrix.h, cuda/ptx/shared_numbers.h), and for a grid's barrier.
  static constexpr std::pair<llvm::StringRef, const char *> ofOurs[] = {
      {"__opsight_mma_", "the PTX instruction mma.sync"},
      {"__opsight_ldmatrix_", "the PTX instruction ldmatrix"},
      {"__opsight_grid_", "a barrier of the whole grid"},
      {"__opsight_shared_", "an address of shared memory as a number"}};
  for (auto [start, words] : ofOurs)
    if (symbol.starts_with(start))
      return words;
  return llvm::demangle(symbol.str());
}

} // namespace opsight::lower
