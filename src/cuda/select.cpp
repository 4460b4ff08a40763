#include "cuda/select.h"
#include "base/text.h"
#include "cuda/inspect.h"
#include <clang/AST/ExprCXX.h>

namespace opsight::cuda {
namespace {
constexpr std::string_view requestName = "opsight_requested_kernel";
constexpr std::string_view unnamedNamespace = "(anonymous namespace)::"; // in Clang's qualified names

std::string baseName(const std::string &kernel) { return std::string(trim(kernel.substr(0, kernel.find('<')))); }

/// Nobody can write an unnamed namespace's name, and nobody needs to: its members are found without.
std::string writable(std::string qualified) {
  for (size_t at; (at = qualified.find(unnamedNamespace)) != std::string::npos;)
    qualified.erase(at, unnamedNamespace.size());
  return qualified;
}

bool isQualifiedName(std::string_view name) {
  auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':'; };
  return !name.empty() && std::ranges::all_of(name, fits) && !std::isdigit(static_cast<unsigned char>(name[0]));
}

/// The function whose address the appended request takes.
const clang::FunctionDecl *requested(llvm::ArrayRef<clang::Decl *> declarations) {
  for (const clang::Decl *decl : declarations) {
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(decl);
    if (!variable || variable->getName() != llvm::StringRef(requestName) || !variable->hasInit())
      continue;
    const clang::Expr *value = variable->getInit()->IgnoreParenImpCasts();
    if (const auto *address = llvm::dyn_cast<clang::UnaryOperator>(value))
      value = address->getSubExpr()->IgnoreParenImpCasts();
    const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(value);
    return reference ? llvm::dyn_cast<clang::FunctionDecl>(reference->getDecl()) : nullptr;
  }
  return nullptr;
}

std::vector<std::string> describedNames(const std::vector<KernelDecl> &kernels) {
  std::vector<std::string> names;
  for (const KernelDecl &kernel : kernels)
    names.push_back(kernel.described());
  return names;
}

std::unexpected<Error> unknownKernel(const std::string &name, const std::vector<KernelDecl> &kernels) {
  std::vector<std::string> known;
  for (const KernelDecl &kernel : kernels)
    known.push_back(kernel.name);
  return userError(unknownName("kernel", name, known), "the file has " + join(describedNames(kernels), ", "));
}

Result<Kernel> only(const KernelDecl &kernel, clang::ASTContext &context) {
  if (!kernel.pattern)
    return describeKernel(*kernel.function, context);
  auto instances = instancesOf(kernel);
  if (instances.size() == 1)
    return describeKernel(*instances.front(), context);
  std::vector<std::string> names;
  for (const clang::FunctionDecl *instance : instances)
    names.push_back(instanceName(*instance));
  std::string next = names.empty() ? "write the instance, for example \"" + kernel.name + "<64>\""
                                   : "the file itself uses " + join(names, ", ");
  return userError("kernel '" + kernel.name + "' is a template, " + kernel.described() + "; which instance is meant?",
                   next);
}
} // namespace

Result<std::string> instanceRequest(const std::string &kernel) {
  if (kernel.find('<') == std::string::npos) {
    if (!kernel.empty() && !isQualifiedName(kernel))
      return userError("'" + kernel + "' is no name of a kernel");
    return std::string();
  }
  std::string arguments = kernel.substr(kernel.find('<'));
  bool plain = trim(kernel).ends_with('>') && arguments.find_first_of(";{}#\"\n\\") == std::string::npos;
  if (!plain || !isQualifiedName(baseName(kernel)))
    return userError("'" + kernel + "' is no instance of a kernel template", "write it like \"flash<64, 64>\"");
  // The line marker makes Clang show its words about the instance at the request, not in the user's file.
  return "\n# 1 \"kernel '" + kernel + "'\"\nstatic auto *" + std::string(requestName) + " = &" + kernel + ";\n";
}

Result<Kernel> selectKernel(const CompileRequest &request, llvm::ArrayRef<clang::Decl *> declarations,
                            clang::ASTContext &context) {
  std::vector<KernelDecl> all = findKernels(declarations, context), kernels = all;
  if (all.empty())
    return userError("'" + request.file + "' has no kernel: no __global__ function is defined in it");
  if (std::ranges::any_of(all, &KernelDecl::inMainFile))
    std::erase_if(kernels, [](const KernelDecl &kernel) { return !kernel.inMainFile; });
  if (request.kernel.empty()) {
    if (kernels.size() == 1)
      return only(kernels.front(), context);
    return userError("'" + request.file + "' has " + std::to_string(kernels.size()) + " kernels; which one is meant?",
                     "give one of: " + join(describedNames(kernels), ", "));
  }
  std::string base = baseName(request.kernel);
  std::vector<KernelDecl> named = all;
  std::erase_if(named, [&](const KernelDecl &kernel) { return kernel.name != base && writable(kernel.qualified) != base; });
  if (named.empty())
    return unknownKernel(base, all);
  Result<Kernel> kernel = only(named.front(), context);
  if (request.kernel.find('<') != std::string::npos) {
    const clang::FunctionDecl *instance = requested(declarations);
    if (instance && instance->getDefinition())
      kernel = describeKernel(*instance->getDefinition(), context);
    else
      kernel = userError("'" + request.kernel + "' is no instance of " + named.front().described());
  } else if (named.size() > 1) {
    return userError("kernel '" + request.kernel + "' is defined " + std::to_string(named.size()) + " times",
                     "overloads cannot be told apart; rename one");
  }
  if (kernel)
    kernel->name = request.kernel;
  return kernel;
}

std::string qualifiedInstance(const std::string &kernel, llvm::ArrayRef<clang::Decl *> declarations,
                              const clang::ASTContext &context) {
  if (kernel.find('<') == std::string::npos)
    return {};
  std::vector<KernelDecl> named = findKernels(declarations, context);
  std::erase_if(named, [&](const KernelDecl &k) { return k.name != baseName(kernel) || !k.pattern; });
  if (named.size() != 1)
    return {};
  return writable(named.front().qualified) + kernel.substr(kernel.find('<'));
}

bool isUnknownKernel(const Error &error) { return error.what.starts_with("unknown kernel"); }

} // namespace opsight::cuda
