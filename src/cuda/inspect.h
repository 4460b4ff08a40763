// What the AST says of kernels: their names, parameters, launch bounds and, statement by statement, what they do.
#pragma once
#include "cuda/module.h"
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclTemplate.h>

namespace opsight::cuda {

/// A __global__ function or template as the source has it.
struct KernelDecl {
  std::string name, qualified;                    // "flash", "attention::flash"
  const clang::FunctionDecl *function = nullptr;  // definition; of a template its pattern
  const clang::FunctionTemplateDecl *pattern = nullptr; // null unless a template
  bool inMainFile = true;
  /// "flash<int M, int N>" for a template, else the name.
  std::string described() const;
};

/// The kernels defined in `declarations` (top level, namespaces and extern "C" blocks entered), in source order.
std::vector<KernelDecl> findKernels(llvm::ArrayRef<clang::Decl *> declarations, const clang::ASTContext &context);

/// The instances of a template that the file itself makes, with definitions.
std::vector<const clang::FunctionDecl *> instancesOf(const KernelDecl &kernel);

/// "flash<64, 64>" for an instance, else the name.
std::string instanceName(const clang::FunctionDecl &function);

/// The parameters of any function.
std::vector<KernelParameter> describeParameters(const clang::FunctionDecl &function, const clang::ASTContext &context);

/// Name, symbol, parameters and the facts that the AST knows (all but memory accesses and byte counts of the IR).
/// Unsupported for parameters that host and device lay out differently.
Result<Kernel> describeKernel(const clang::FunctionDecl &function, clang::ASTContext &context);

} // namespace opsight::cuda
