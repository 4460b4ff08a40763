// Which kernel the user means: the only one, one by name, or an instance of a template that is made on request.
#pragma once
#include "cuda/compile.h"
#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

namespace opsight::cuda {

/// Source to append to the file so that the instance `kernel` ("flash<64, 64>") exists; "" where it is no instance.
Result<std::string> instanceRequest(const std::string &kernel);

/// The kernel among `declarations`, described. User error for none, several, an unknown name or a bare template.
Result<Kernel> selectKernel(const CompileRequest &request, llvm::ArrayRef<clang::Decl *> declarations,
                            clang::ASTContext &context);

/// `kernel` ("flash<64>") with its template's full name ("attention::flash<64>"); "" unless exactly one template fits.
std::string qualifiedInstance(const std::string &kernel, llvm::ArrayRef<clang::Decl *> declarations,
                              const clang::ASTContext &context);

/// Whether the error says that the name asked for does not exist.
bool isUnknownKernel(const Error &error);

} // namespace opsight::cuda
