// Which values differ between the threads of a warp: LLVM's uniformity analysis, told what this machine's sources of
// difference are. LLVM's own passes that lean on it (StructurizeCFG) see the same answers.
#pragma once
#include "lower/analyses.h"
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

namespace opsight::lower::warp {

/// Analyses in which the only sources of difference are the lane and operations that answer each thread for itself.
struct WarpAnalyses : Analyses {
  WarpAnalyses();
};

/// The same for the threads of a block: its vectors differ too.
struct BlockAnalyses : Analyses {
  BlockAnalyses();
};

/// Whether `value` is the thread's number within its vector.
bool isLane(const llvm::Value &value);
/// That number, below `lanes`.
llvm::Value *createLane(llvm::IRBuilderBase &builder, unsigned lanes);
/// Whether `value` asks if all lanes of a vector are there (all_active).
bool isFullQuestion(const llvm::Value &value);
/// Whether a warp operation's mask is surely the same for all who take part.
bool isUniformMask(const llvm::Value *mask);

/// Metadata on an instruction that `mark_uniform` has proved to be the same in every thread of a warp.
inline constexpr const char *uniformMark = "opsight.uniform";

} // namespace opsight::lower::warp
