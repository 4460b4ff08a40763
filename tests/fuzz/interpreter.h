// What a kernel means: one thread after another, one instruction after another, straight from the scalar IR that the
// front end leaves (the dialect of cuda/module.h). It knows nothing of warps as vectors and shares no code with the
// lowerings; a thread runs until it stands at a barrier or a warp operation, and goes on when all who take part are
// there.
#pragma once
#include "card/artifact.h"
#include <llvm/IR/Function.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace opsight::fuzz {

struct Launch {
  card::Dim3 grid, block;
  std::vector<uint64_t> arguments; // bits of each parameter; pointers are addresses of the host
  uint64_t sharedBytes = 0;        // dynamic
};

/// Runs all blocks. `memory` is what the kernel may touch through its arguments. Returns nothing, or why the kernel
/// cannot be run: it does what has no meaning, or what is not known here.
std::optional<std::string> interpret(llvm::Function &kernel, const Launch &launch,
                                     std::span<const std::span<std::byte>> memory);

} // namespace opsight::fuzz
