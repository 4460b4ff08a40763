// LLVM's uniformity analysis for NVPTX takes whatever a call gives for different in each thread. Of intrinsics that compute
// from their operands alone, and of what is the same for a whole block (its own index, the grid's and the block's extents),
// that is not so: while one of these lives, ordinary instructions stand in their places that tell the analysis the same.
#pragma once
#include <llvm/IR/Function.h>

namespace opsight::lower::spirv {

class PlainCalls {
public:
  explicit PlainCalls(llvm::Function &kernel);
  ~PlainCalls(); // undoes everything
  PlainCalls(const PlainCalls &) = delete;

private:
  struct Replaced {
    llvm::CallInst *call;
    llvm::SmallVector<llvm::Instruction *, 4> instead; // in order; the last stands for the call
  };
  llvm::SmallVector<Replaced> replaced;
};

} // namespace opsight::lower::spirv
