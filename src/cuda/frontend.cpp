#include "cuda/frontend.h"
#include "base/file.h"
#include "base/text.h"
#include "cuda/diagnostics.h"
#include "cuda/inspect.h"
#include "cuda/invocation.h"
#include "cuda/missing.h"
#include "cuda/select.h"
#include <clang/AST/ASTConsumer.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/Utils.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/VirtualFileSystem.h>

namespace opsight::cuda {
namespace {

/// How much of the host's code is looked at.
enum class HostCode {
  Parsed,
  /// Bodies of host functions are skipped and headers of missing libraries count as empty: a kernel beside code that
  /// calls cuBLAS needs none of it, and one that does need it still fails.
  Skipped,
};

/// A header of the SDK's that lies in some system folder would be taken silently; it is refused by name instead.
class HeaderWatch : public clang::PPCallbacks {
public:
  HeaderWatch(DiagnosticCollector &diagnostics, const clang::SourceManager &sources, HostCode host)
      : diagnostics(diagnostics), sources(sources), host(host) {}

  bool FileNotFound(clang::StringRef name) override {
    return host == HostCode::Skipped && missingHeader(std::string_view(name)).has_value();
  }

  void InclusionDirective(clang::SourceLocation hash, const clang::Token &, clang::StringRef name, bool,
                          clang::CharSourceRange, clang::OptionalFileEntryRef file, clang::StringRef,
                          clang::StringRef, const clang::Module *, bool,
                          clang::SrcMgr::CharacteristicKind kind) override {
    auto part = missingHeader(std::string_view(name));
    if (host == HostCode::Skipped && !file)
      return;
    if (!part || (file && !clang::SrcMgr::isSystem(kind)) || (file && file->getName().starts_with(cudaHeaderFolder())))
      return;
    diagnostics.noteMissing({name.str(), std::string(*part), placeOf(hash, sources)});
  }

private:
  DiagnosticCollector &diagnostics;
  const clang::SourceManager &sources;
  HostCode host;
};

/// Keeps the declarations of the user's own files and, at the end of the file, hands them on.
class Harvest : public clang::ASTConsumer {
public:
  using Consumer = std::function<void(llvm::ArrayRef<clang::Decl *>, clang::ASTContext &)>;
  explicit Harvest(Consumer consumer) : consumer(std::move(consumer)) {}

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl *decl : group) {
      const clang::SourceManager &sources = decl->getASTContext().getSourceManager();
      if (!sources.isInSystemHeader(decl->getLocation()))
        declarations.push_back(decl);
    }
    return true;
  }
  void HandleTranslationUnit(clang::ASTContext &context) override { consumer(declarations, context); }

  /// Asked only where host code is skipped. A constexpr function serves the device too.
  bool shouldSkipFunctionBody(clang::Decl *decl) override {
    const clang::FunctionDecl *function = decl->getAsFunction();
    if (!function)
      return false;
    bool forDevice = function->hasAttr<clang::CUDADeviceAttr>() || function->hasAttr<clang::CUDAGlobalAttr>();
    const clang::SourceManager &sources = decl->getASTContext().getSourceManager();
    return !forDevice && !function->isConstexpr() && !sources.isInSystemHeader(decl->getLocation());
  }

private:
  std::vector<clang::Decl *> declarations;
  Consumer consumer;
};

class Action : public clang::ASTFrontendAction {
public:
  Action(Harvest::Consumer consumer, llvm::LLVMContext *context, DiagnosticCollector &diagnostics, HostCode host)
      : consumer(std::move(consumer)), context(context), diagnostics(diagnostics), host(host) {}

  std::unique_ptr<llvm::Module> module;

protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &compiler,
                                                        llvm::StringRef file) override {
    compiler.getPreprocessor().addPPCallbacks(
        std::make_unique<HeaderWatch>(diagnostics, compiler.getSourceManager(), host));
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(std::make_unique<Harvest>(consumer));
    if (context) {
      auto made = clang::CreateLLVMCodeGen(compiler, file, *context);
      generator = made.get();
      consumers.push_back(std::move(made));
    }
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

  void EndSourceFileAction() override { // the compiler drops the generator right after
    if (generator)
      module = generator->ReleaseModule();
  }

private:
  Harvest::Consumer consumer;
  llvm::LLVMContext *context;
  DiagnosticCollector &diagnostics;
  HostCode host;
  clang::CodeGenerator *generator = nullptr;
};

/// System headers too: ours are such.
class FilesRead : public clang::DependencyCollector {
  bool needSystemDependencies() override { return true; }
};

/// One prepared run: file read, arguments made, diagnostics caught.
class Run {
public:
  Run(const CompileRequest &request, std::string source, HostCode host)
      : request(request), source(std::move(source)), host(host) {}

  /// Parses, and with a context also generates IR into `module`.
  Status execute(Harvest::Consumer consumer, llvm::LLVMContext *context, std::unique_ptr<llvm::Module> *module,
                 std::vector<std::string> *read = nullptr) {
    Result<std::vector<std::string>> arguments = clangArguments(request);
    if (!arguments)
      return std::unexpected(arguments.error());
    if (host == HostCode::Skipped)
      arguments->insert(arguments->begin(), {"-include", "opsight/extension_types.h"});
    std::vector<const char *> pointers;
    for (const std::string &argument : *arguments)
      pointers.push_back(argument.c_str());

    clang::DiagnosticOptions options;
    DiagnosticCollector collector(options);
    auto files = llvm::vfs::getRealFileSystem();
    auto engine = clang::CompilerInstance::createDiagnostics(*files, options, &collector, /*ShouldOwnClient=*/false);
    auto invocation = std::make_shared<clang::CompilerInvocation>();
    if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, *engine))
      return std::unexpected(collector.error().value_or(Error{ErrorKind::Internal, "Clang refused its arguments"}));
    invocation->getPreprocessorOpts().addRemappedFile(
        request.file, llvm::MemoryBuffer::getMemBufferCopy(source, request.file).release());

    clang::CompilerInstance compiler(invocation);
    compiler.setVirtualFileSystem(files);
    compiler.createDiagnostics(&collector, /*ShouldOwnClient=*/false);
    compiler.setVerboseOutputStream(llvm::nulls()); // else the count of errors goes to standard error
    compiler.getFrontendOpts().SkipFunctionBodies = host == HostCode::Skipped;
    auto collected = std::make_shared<FilesRead>();
    compiler.addDependencyCollector(collected);
    Action action(std::move(consumer), context, collector, host);
    bool done = compiler.ExecuteAction(action);
    if (std::optional<Error> error = collector.error())
      return std::unexpected(*error);
    if (!done)
      return internalError("Clang stopped at '" + request.file + "' without a word");
    if (module)
      *module = std::move(action.module);
    if (read)
      read->assign(collected->getDependencies().begin(), collected->getDependencies().end());
    return {};
  }

private:
  const CompileRequest &request;
  std::string source;
  HostCode host;
};
} // namespace

namespace {
/// One try; `qualified` receives the full name of the template that `request.kernel` may mean an instance of.
Result<Module> parseOnce(const CompileRequest &request, const std::string &source, HostCode host,
                         std::string &qualified) {
  Result<std::string> suffix = instanceRequest(request.kernel);
  if (!suffix)
    return std::unexpected(suffix.error());
  Module module;
  module.context = std::make_unique<llvm::LLVMContext>();
  module.sourceFile = request.file;
  Result<Kernel> kernel = internalError("the file was never looked at");
  auto look = [&](llvm::ArrayRef<clang::Decl *> declarations, clang::ASTContext &context) {
    kernel = selectKernel(request, declarations, context);
    qualified = qualifiedInstance(request.kernel, declarations, context);
  };
  Status parsed = Run(request, source + *suffix, host).execute(look, module.context.get(), &module.ir, &module.files);
  // A name that does not exist is told in our words, which know the names that do; all else in Clang's.
  if (!parsed && parsed.error().kind == ErrorKind::User && !kernel && isUnknownKernel(kernel.error()))
    return std::unexpected(kernel.error());
  if (!parsed)
    return std::unexpected(parsed.error());
  if (!kernel)
    return std::unexpected(kernel.error());
  module.kernel = std::move(*kernel);
  return module;
}

/// The request is appended outside of all namespaces; a template inside one is found by its full name.
Result<Module> parseQualified(const CompileRequest &request, const std::string &source, HostCode host) {
  std::string qualified;
  Result<Module> module = parseOnce(request, source, host, qualified);
  if (module || qualified.empty() || qualified == request.kernel)
    return module;
  CompileRequest again = request;
  again.kernel = qualified;
  module = parseOnce(again, source, host, qualified);
  if (module)
    module->kernel.name = request.kernel;
  return module;
}
} // namespace

static std::string firstErrorLine(const std::string &said) {
  size_t error = said.find("error: "), start = said.rfind('\n', error), end = said.find('\n', error);
  start = start == std::string::npos ? 0 : start + 1;
  return said.substr(start, end - start);
}

Result<Module> parseKernel(const CompileRequest &request) {
  Result<std::string> source = sourceOf(request);
  if (!source)
    return std::unexpected(source.error());
  Result<Module> module = parseQualified(request, *source, HostCode::Parsed);
  if (module || module.error().kind != ErrorKind::Unsupported)
    return module;
  Result<Module> alone = parseQualified(request, *source, HostCode::Skipped);
  // What the kernel itself lacks is told by the second try, whose place is the kernel's and not the host code's; but
  // what Clang says then may be due to the headers left out.
  if (alone || alone.error().kind != ErrorKind::User || !alone.error().what.contains("error: "))
    return alone;
  module.error().next += "; without it Clang says: " + firstErrorLine(alone.error().what);
  return module;
}

Result<std::vector<std::string>> parseKernelNames(const CompileRequest &request) {
  Result<std::string> source = sourceOf(request);
  if (!source)
    return std::unexpected(source.error());
  std::vector<std::string> names;
  auto look = [&](llvm::ArrayRef<clang::Decl *> declarations, clang::ASTContext &context) {
    names.clear();
    for (const KernelDecl &kernel : findKernels(declarations, context))
      if (kernel.inMainFile)
        names.push_back(kernel.described());
  };
  Status parsed = Run(request, *source, HostCode::Parsed).execute(look, nullptr, nullptr);
  if (!parsed && parsed.error().kind == ErrorKind::Unsupported)
    parsed = Run(request, *source, HostCode::Skipped).execute(look, nullptr, nullptr);
  if (!parsed)
    return std::unexpected(parsed.error());
  return names;
}

} // namespace opsight::cuda
