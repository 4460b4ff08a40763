// Calls to OpenCL C builtins by their mangled names, which LLVM's SPIR-V back end turns into instructions.
#pragma once
#include <llvm/IR/IRBuilder.h>

namespace opsight::lower::spirv {

/// Calls `name`, mangled for the types of `arguments` (scalars and vectors; unsigned where `isUnsigned`), at `builder`.
llvm::CallInst *callBuiltin(llvm::IRBuilderBase &builder, llvm::StringRef name, llvm::Type *result,
                            llvm::ArrayRef<llvm::Value *> arguments, bool isUnsigned = false, bool convergent = false);

/// A barrier of the block that orders its shared and its global memory, as __syncthreads() does.
llvm::CallInst *callBlockBarrier(llvm::IRBuilderBase &builder);

/// get_local_id(dimension) and its kin, as CUDA's 32 bits.
llvm::Value *callIndex(llvm::IRBuilderBase &builder, llvm::StringRef name, unsigned dimension);

/// The thread's number in its block, x fastest.
llvm::Value *callLinearThread(llvm::IRBuilderBase &builder);

} // namespace opsight::lower::spirv
