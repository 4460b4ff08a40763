// What one pass through a basic block executes, by line.
#pragma once
#include "card/watch.h"
#include "lower/pass.h"

namespace opsight::lower::watch {

/// Phis, casts that cost nothing and what only informs the compiler count as nothing.
std::vector<card::LineCounts> countLines(const llvm::BasicBlock &block);

} // namespace opsight::lower::watch
