// Clang's diagnostics: kept word for word for the user, and looked at for names that CUDA has and Opsight does not.
#pragma once
#include "base/error.h"
#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>
#include <memory>
#include <optional>

namespace opsight::cuda {

/// What is missing here, and where it was asked for.
struct MissingPart {
  std::string name, part;
  SourcePlace where;
};

class DiagnosticCollector : public clang::DiagnosticConsumer {
public:
  explicit DiagnosticCollector(clang::DiagnosticOptions &options);
  void BeginSourceFile(const clang::LangOptions &options, const clang::Preprocessor *preprocessor) override;
  void EndSourceFile() override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic &info) override;

  /// Notes that a header or name is missing, unless an error came before.
  void noteMissing(MissingPart part);
  /// What went wrong, or nothing.
  std::optional<Error> error();

private:
  void seekMissingNames(const clang::Diagnostic &info);

  std::string text;
  llvm::raw_string_ostream out;
  clang::TextDiagnosticPrinter printer;
  std::optional<MissingPart> missing;
  bool failed = false, silenced = false;
};

SourcePlace placeOf(clang::SourceLocation location, const clang::SourceManager &sources);

} // namespace opsight::cuda
