// What a pass of a lowering is: a name, and a function over the module on its way to a card.
//
// A pass has one name everywhere: its file, its row in the registry, its folder under tests/lower/. It may rely on what
// the passes before it in its pipeline leave behind, and says so in its first lines.
#pragma once
#include "base/error.h"
#include "card/watch.h"
#include "lower/lower.h"
#include <llvm/IR/Instruction.h>
#include <llvm/IR/Module.h>
#include <span>
#include <string_view>

namespace opsight::lower {

/// The module being lowered and what is known of it. `manifest.parameters` always matches `kernel`'s arguments.
struct Context {
  llvm::Module &module;
  llvm::Function *kernel = nullptr;
  Target target;
  card::Manifest manifest;
  std::vector<SourcePlace> places{}; // of barriers, by the number that their calls carry (warp/)
  uint64_t scratchBytes = 0; // of a block's memory for our own ends, behind its static shared arrays (warp/)
  std::shared_ptr<const card::Watch> watch{}; // by the pass `watch`
};

struct Pass {
  std::string_view name;
  std::string_view idea; // one line, for opsight-opt --list
  Status (*run)(Context &);
};

/// The place in the user's source that an instruction came from: through inlining, out of our own headers.
SourcePlace placeOf(const llvm::Instruction &instruction);

/// The name a person would recognise: "__shfl_xor_sync(float)" rather than its mangling.
std::string readableName(llvm::StringRef symbol);

} // namespace opsight::lower
