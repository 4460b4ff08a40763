// Addresses of shared memory as numbers. PTX names a place in the block's shared memory by 32 bits, on which programs
// calculate; a card's pointer into it may be of another kind. In the IR the two calls
//     i32 @__opsight_shared_number(ptr addrspace(3))     ptr addrspace(3) @__opsight_shared_pointer(i32)
// lead from one to the other, and a lowering decides what the number is; all that holds is that a number plus n is the
// number of the place n bytes on, and that numbers of well aligned places are as well aligned.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace opsight::cuda::ptx {

inline constexpr unsigned globalSpace = 1, sharedSpace = 3;
inline constexpr const char *sharedNumberName = "__opsight_shared_number";
inline constexpr const char *sharedPointerName = "__opsight_shared_pointer";

llvm::Value *createSharedNumber(llvm::IRBuilder<> &b, llvm::Value *pointer);
llvm::Value *createSharedPointer(llvm::IRBuilder<> &b, llvm::Value *number);

/// Where a pointer is made of another's number plus something, it is that pointer plus something: most numbers vanish.
void foldSharedNumbers(llvm::Module &ir);

} // namespace opsight::cuda::ptx
