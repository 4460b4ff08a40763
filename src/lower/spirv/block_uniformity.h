// Which barriers and warp operations every thread of a block provably reaches together.
#pragma once
#include "lower/spirv/passes.h"
#include <llvm/IR/Instructions.h>

namespace opsight::lower::spirv {

/// Those synchronising calls (block barriers, warp operations) of the kernel that some threads of a block may pass by or
/// reach another number of times than others: control flow that depends on more than the block decides. Conservative.
/// The IR must still be CUDA's (nvptx64); it is left as it was.
llvm::SmallVector<llvm::CallInst *> reachedByFew(llvm::Function &kernel);

/// Those synchronising calls that a branch decides which differs between threads: of a block or of a warp, as the IR in
/// `kernel` makes it seem. In the order of the code.
llvm::SmallVector<llvm::CallInst *> decidedByThreads(llvm::Function &kernel);

/// Loads of by-value structs that were made to read memory which all threads share, each with its cast: then they count as
/// the same for all.
using MovedReads = llvm::SmallVector<std::pair<llvm::LoadInst *, llvm::AddrSpaceCastInst *>>;
MovedReads readStructsFromShared(llvm::Function &kernel);

/// The barriers that some rounds of their loop (or some runs of the kernel) skip, though all threads skip them together.
/// Compilers of OpenCL C for processors copy the rest of the kernel for each such choice.
llvm::SmallVector<llvm::CallInst *> findSkippable(llvm::Function &kernel);

/// Why the threads of the kernel must proceed in rounds (schedule_threads); empty where they need not. With
/// `barriersAlone`, as if its warp operations synchronised nothing.
std::string whyRounds(llvm::Function &kernel, bool barriersAlone);

} // namespace opsight::lower::spirv
