// Changing a kernel's signature while its body stays.
#pragma once
#include "lower/pass.h"

namespace opsight::lower {

/// Gives the kernel the parameter types `types` (with the same calling convention and name) and moves its body over.
/// Returns the old function, bodiless, whose arguments still have their uses: the caller replaces and erases it. With
/// another `result`, the returns are the caller's to replace too.
llvm::Function *replaceSignature(Context &context, llvm::ArrayRef<llvm::Type *> types, llvm::Type *result = nullptr);

/// Adds one parameter at the end, to the kernel and to the manifest.
llvm::Argument *appendParameter(Context &context, llvm::Type *type, card::Parameter description);

/// The parameter of `function` with this name; null when it has none.
llvm::Argument *findArgument(llvm::Function &function, llvm::StringRef name);

/// A static shared array of ours, counted in the manifest.
llvm::GlobalVariable *createShared(Context &context, llvm::Type *type, llvm::StringRef name);

} // namespace opsight::lower
