// Facts that single statements of a kernel, and of the device functions it calls, give away.
#pragma once
#include "cuda/module.h"
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

namespace opsight::cuda {

/// Barriers, warp operations, atomics, loops, shared arrays, printf and assert, in source order per function.
std::vector<Fact> statementFacts(const clang::FunctionDecl &kernel, clang::ASTContext &context);

} // namespace opsight::cuda
