#include "cuda/inspect.h"
#include "cuda/diagnostics.h"
#include "cuda/statements.h"
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/PrettyPrinter.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/Support/raw_ostream.h>

namespace opsight::cuda {
namespace {

clang::PrintingPolicy policyOf(const clang::ASTContext &context) {
  clang::PrintingPolicy policy(context.getLangOpts());
  policy.SuppressTagKeyword = true;
  return policy;
}

void collect(clang::Decl *decl, const clang::SourceManager &sources, std::vector<KernelDecl> &found) {
  if (auto *group = llvm::dyn_cast<clang::DeclContext>(decl);
      group && llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(decl)) {
    for (clang::Decl *inner : group->decls())
      collect(inner, sources, found);
    return;
  }
  KernelDecl kernel;
  kernel.pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(decl);
  const clang::FunctionDecl *function = decl->getAsFunction(); // of a template its pattern
  if (!function || !function->hasAttr<clang::CUDAGlobalAttr>() || !function->isThisDeclarationADefinition())
    return;
  if (function->getTemplateSpecializationInfo())
    return; // an explicit instance belongs to its template
  kernel.function = function;
  kernel.name = function->getNameAsString();
  kernel.qualified = function->getQualifiedNameAsString();
  kernel.inMainFile = sources.isInMainFile(sources.getExpansionLoc(function->getLocation()));
  found.push_back(std::move(kernel));
}

std::string elementName(clang::QualType type, const clang::ASTContext &context) {
  type = type.getCanonicalType().getUnqualifiedType();
  std::string name = type.getAsString(policyOf(context));
  if (name == "__half" || name == "_Float16")
    return "half";
  return name == "__nv_bfloat16" ? "bfloat16" : name;
}

KernelParameter describeParameter(const clang::ParmVarDecl &parameter, const clang::ASTContext &context) {
  KernelParameter described;
  clang::QualType type = parameter.getType();
  described.name = parameter.getNameAsString();
  described.type = type.getAsString(policyOf(context));
  clang::TypeInfo info = context.getTypeInfo(type);
  described.bytes = info.Width / 8;
  described.alignment = info.Align / 8;
  if (type->isPointerType() || type->isReferenceType()) {
    described.kind = KernelParameter::Kind::Pointer;
    described.isConst = type->getPointeeType().isConstQualified();
    described.element = elementName(type->getPointeeType(), context);
    return described;
  }
  described.element = elementName(type, context);
  bool isNumberInStruct = described.element == "half" || described.element == "bfloat16";
  if (type->isRecordType() && !isNumberInStruct)
    described.kind = KernelParameter::Kind::Struct;
  return described;
}

/// Whether a value of `type` holds a long double, which is 8 bytes on devices and 16 on the host.
bool holdsLongDouble(clang::QualType type) {
  type = type.getCanonicalType();
  if (const auto *array = type->getAsArrayTypeUnsafe())
    return holdsLongDouble(array->getElementType());
  const auto *record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition())
    return type->isSpecificBuiltinType(clang::BuiltinType::LongDouble);
  return llvm::any_of(record->bases(), [](const auto &base) { return holdsLongDouble(base.getType()); }) ||
         llvm::any_of(record->fields(), [](const auto *field) { return holdsLongDouble(field->getType()); });
}

uint32_t evaluated(const clang::Expr *expression, const clang::ASTContext &context) {
  clang::Expr::EvalResult result;
  if (!expression || expression->isValueDependent() || !expression->EvaluateAsInt(result, context))
    return 0;
  return result.Val.getInt().getZExtValue();
}

std::string symbolOf(const clang::FunctionDecl &function, clang::ASTContext &context) {
  std::unique_ptr<clang::MangleContext> mangler(context.createMangleContext());
  if (!mangler->shouldMangleDeclName(&function))
    return function.getNameAsString();
  std::string symbol;
  llvm::raw_string_ostream out(symbol);
  mangler->mangleName(clang::GlobalDecl(&function, clang::KernelReferenceKind::Kernel), out);
  return symbol;
}
} // namespace

std::string KernelDecl::described() const {
  if (!pattern)
    return name;
  std::string text;
  llvm::raw_string_ostream out(text);
  clang::PrintingPolicy policy = policyOf(pattern->getASTContext());
  out << name << '<';
  for (const clang::NamedDecl *parameter : *pattern->getTemplateParameters()) {
    if (parameter != *pattern->getTemplateParameters()->begin())
      out << ", ";
    parameter->print(out, policy);
  }
  out << '>';
  return text;
}

std::vector<KernelDecl> findKernels(llvm::ArrayRef<clang::Decl *> declarations, const clang::ASTContext &context) {
  std::vector<KernelDecl> found;
  for (clang::Decl *decl : declarations)
    collect(decl, context.getSourceManager(), found);
  return found;
}

std::vector<const clang::FunctionDecl *> instancesOf(const KernelDecl &kernel) {
  std::vector<const clang::FunctionDecl *> instances;
  if (kernel.pattern)
    for (const clang::FunctionDecl *instance : kernel.pattern->specializations())
      if (const clang::FunctionDecl *definition = instance->getDefinition())
        instances.push_back(definition);
  return instances;
}

std::string instanceName(const clang::FunctionDecl &function) {
  std::string text;
  llvm::raw_string_ostream out(text);
  function.getNameForDiagnostic(out, policyOf(function.getASTContext()), /*Qualified=*/false);
  return text;
}

std::vector<KernelParameter> describeParameters(const clang::FunctionDecl &function, const clang::ASTContext &context) {
  std::vector<KernelParameter> described;
  for (const clang::ParmVarDecl *parameter : function.parameters())
    described.push_back(describeParameter(*parameter, context));
  return described;
}

Result<Kernel> describeKernel(const clang::FunctionDecl &function, clang::ASTContext &context) {
  for (const clang::ParmVarDecl *parameter : function.parameters())
    if (holdsLongDouble(parameter->getType()) ||
        (parameter->getType()->isPointerType() && holdsLongDouble(parameter->getType()->getPointeeType())))
      return unsupported("parameter '" + parameter->getNameAsString() +
                             "' holds a long double, which is not the same on host and device",
                         "use double", placeOf(parameter->getLocation(), context.getSourceManager()));
  Kernel kernel;
  kernel.name = instanceName(function);
  kernel.symbol = symbolOf(function, context);
  kernel.parameters = describeParameters(function, context);
  kernel.facts.where = placeOf(function.getLocation(), context.getSourceManager());
  if (const auto *bounds = function.getAttr<clang::CUDALaunchBoundsAttr>()) {
    kernel.facts.maxThreadsPerBlock = evaluated(bounds->getMaxThreads(), context);
    kernel.facts.minBlocksPerSm = evaluated(bounds->getMinBlocks(), context);
  }
  kernel.facts.all = statementFacts(function, context);
  return kernel;
}

} // namespace opsight::cuda
