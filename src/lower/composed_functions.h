// CUDA's functions that no target's library has, made of ones that every library has.
#pragma once
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>

namespace opsight::lower {

/// How a target calls its library's `name` on arguments of one floating-point type.
using CallLibrary = llvm::function_ref<llvm::Value *(llvm::StringRef name, llvm::ArrayRef<llvm::Value *> arguments)>;

/// `name` as in __nv_NAME and __nv_NAMEf, on float or double. Null where it is none of normcdf, rhypot, norm3d, norm4d.
llvm::Value *composeFunction(llvm::IRBuilderBase &b, llvm::StringRef name, llvm::ArrayRef<llvm::Value *> arguments,
                             CallLibrary call);

} // namespace opsight::lower
