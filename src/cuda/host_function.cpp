// The entry is C++ behind the user's own text: Clang itself then knows how the function is called.
#include "cuda/host_function.h"
#include "base/file.h"
#include "base/text.h"
#include "cuda/diagnostics.h"
#include "cuda/inspect.h"
#include "cuda/invocation.h"
#include "cuda/isolate.h"
#include "cuda/transfer.h"
#include <clang/AST/ASTConsumer.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <cctype>
#include <fmt/format.h>
#include <functional>
#include <llvm/Support/VirtualFileSystem.h>

namespace opsight::cuda {
namespace {

using Functions = std::vector<const clang::FunctionDecl *>;

/// Linked without the compiler's start files, so what they define is here. The structure is the ABI's.
std::string entryText(const std::string &function) {
  return fmt::format(R"(
# 1 "function '{0}'"
namespace opsight_entry {{
struct launch {{ unsigned grid[3], block[3]; const void *const *arguments; }};
template <class T, T... I> struct sequence {{}};
template <class R, class... P, unsigned long... I>
void call(R (*function)(P...), const void *const *arguments, sequence<unsigned long, I...>) {{
  function(*(__remove_cvref(P) *)arguments[I]...);
}}
template <class R, class... P> void call(R (*function)(P...), const void *const *arguments) {{
  call(function, arguments, __make_integer_seq<sequence, unsigned long, sizeof...(P)>{{}});
}}
}}
extern "C" {{
__attribute__((used)) void *__dso_handle = &__dso_handle;
__attribute__((used, visibility("default"))) void {1}(const opsight_entry::launch *launch, unsigned long, unsigned long, void *) {{
  opsight_entry::call(&::{0}, launch->arguments);
}}
}}
)",
                     function, hostEntry);
}

/// Definitions in the user's own files; namespaces and extern "C" are entered.
void collect(const clang::DeclContext &context, const clang::SourceManager &sources, Functions &found) {
  for (const clang::Decl *decl : context.decls()) {
    if (sources.isInSystemHeader(decl->getLocation()))
      continue;
    if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(decl))
      collect(*llvm::cast<clang::DeclContext>(decl), sources, found);
    const auto *function = llvm::dyn_cast<clang::FunctionDecl>(decl);
    if (function && function->isThisDeclarationADefinition() && !llvm::isa<clang::CXXMethodDecl>(function) &&
        function->getNameAsString() != hostEntry)
      found.push_back(function);
  }
}

Result<Kernel> describeFunction(const std::string &file, const std::string &name, clang::ASTContext &context) {
  Functions all, named;
  collect(*context.getTranslationUnitDecl(), context.getSourceManager(), all);
  std::vector<std::string> known;
  for (const clang::FunctionDecl *function : all) {
    known.push_back(function->getQualifiedNameAsString());
    if (known.back() == name)
      named.push_back(function);
  }
  if (named.empty())
    return userError(unknownName("function", name, known), {}, {.file = file});
  if (named.size() > 1)
    return userError("function '" + name + "' is defined " + std::to_string(named.size()) + " times",
                     "overloads cannot be told apart; rename one", {.file = file});
  for (const clang::ParmVarDecl *parameter : named.front()->parameters())
    if (parameter->getType()->isReferenceType())
      return userError("parameter '" + parameter->getNameAsString() + "' of '" + name + "' is a reference",
                       "take buffers by pointer and numbers by value",
                       placeOf(parameter->getLocation(), context.getSourceManager()));
  Kernel kernel;
  kernel.name = name, kernel.symbol = hostEntry;
  kernel.parameters = describeParameters(*named.front(), context);
  kernel.facts.where = placeOf(named.front()->getLocation(), context.getSourceManager());
  return kernel;
}

class Look : public clang::ASTConsumer {
public:
  explicit Look(std::function<void(clang::ASTContext &)> look) : look(std::move(look)) {}
  void HandleTranslationUnit(clang::ASTContext &context) override { look(context); }

private:
  std::function<void(clang::ASTContext &)> look;
};

class Action : public clang::EmitLLVMOnlyAction {
public:
  Action(std::function<void(clang::ASTContext &)> look, llvm::LLVMContext *context)
      : EmitLLVMOnlyAction(context), look(std::move(look)) {}

protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &compiler, llvm::StringRef file) override {
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(std::make_unique<Look>(look));
    consumers.push_back(EmitLLVMOnlyAction::CreateASTConsumer(compiler, file));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

private:
  std::function<void(clang::ASTContext &)> look;
};

/// The whole way, in the child.
Result<Module> compileHere(const std::string &file, const std::string &function) {
  Result<std::string> source = readFile(file);
  if (!source)
    return std::unexpected(source.error());
  std::vector<std::string> arguments = hostArguments(file);
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  clang::DiagnosticOptions options;
  DiagnosticCollector collector(options);
  auto files = llvm::vfs::getRealFileSystem();
  auto engine = clang::CompilerInstance::createDiagnostics(*files, options, &collector, /*ShouldOwnClient=*/false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, *engine))
    return std::unexpected(collector.error().value_or(Error{ErrorKind::Internal, "Clang refused its arguments"}));
  invocation->getPreprocessorOpts().addRemappedFile(
      file, llvm::MemoryBuffer::getMemBufferCopy(*source + entryText(function), file).release());
  clang::CompilerInstance compiler(invocation);
  compiler.setVirtualFileSystem(files);
  compiler.createDiagnostics(&collector, /*ShouldOwnClient=*/false);
  compiler.setVerboseOutputStream(llvm::nulls());

  Module module;
  module.context = std::make_unique<llvm::LLVMContext>();
  module.sourceFile = file;
  Result<Kernel> kernel = internalError("the file was never looked at");
  Action action([&](clang::ASTContext &context) { kernel = describeFunction(file, function, context); }, module.context.get());
  bool done = compiler.ExecuteAction(action);
  // A name that is not there is told in our words, which know those that are; all else in Clang's.
  if (!kernel && kernel.error().kind == ErrorKind::User)
    return std::unexpected(kernel.error());
  if (std::optional<Error> error = collector.error())
    return std::unexpected(*error);
  if (!kernel)
    return std::unexpected(kernel.error());
  module.ir = action.takeModule();
  if (!done || !module.ir)
    return internalError("Clang stopped at '" + file + "' without a word");
  module.kernel = std::move(*kernel);
  return module;
}

bool isQualifiedName(const std::string &name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == ':'; });
}

} // namespace

Result<Module> compileHostFunction(const std::string &file, const std::string &function) {
  if (!isQualifiedName(function))
    return userError("'" + function + "' is no name of a function");
  auto bytes = runIsolated(file, {}, [&] { return packModule(compileHere(file, function)); });
  return bytes ? unpackModule(*bytes) : std::unexpected(bytes.error());
}

} // namespace opsight::cuda
