// Which warp operations the threads of a warp may not reach together.
#pragma once
#include "card/artifact.h"
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>

namespace opsight::lower::spirv {

/// Whether threads that follow each other in a row of `block` are a warp: blocks of one row, or of rows of whole warps.
/// Elsewhere a warp goes on in the next row.
bool warpsLieInRows(const card::Dim3 &block);

/// The places (line, file) of warp operations that a branch decides which may differ between threads of one warp; empty
/// where every warp provably reaches each of them whole. For blocks of which warpsLieInRows() is true.
llvm::SmallVector<SourcePlace> reachedByPartOfAWarp(llvm::Function &kernel, const card::Dim3 &block);

} // namespace opsight::lower::spirv
