#include "cuda/diagnostics.h"
#include "base/text.h"
#include "cuda/missing.h"
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/SmallString.h>

namespace opsight::cuda {

SourcePlace placeOf(clang::SourceLocation location, const clang::SourceManager &sources) {
  if (location.isInvalid())
    return {};
  clang::PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(location));
  if (place.isInvalid())
    return {};
  return {place.getFilename(), place.getLine(), place.getColumn()};
}

DiagnosticCollector::DiagnosticCollector(clang::DiagnosticOptions &options) : out(text), printer(out, options) {}

void DiagnosticCollector::BeginSourceFile(const clang::LangOptions &options, const clang::Preprocessor *preprocessor) {
  printer.BeginSourceFile(options, preprocessor);
}
void DiagnosticCollector::EndSourceFile() { printer.EndSourceFile(); }

void DiagnosticCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic &info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  bool isError = level >= clang::DiagnosticsEngine::Error;
  // Warnings about code that compiles are the user's own business; notes belong to what they follow.
  if (level != clang::DiagnosticsEngine::Note)
    silenced = !isError;
  if (silenced)
    return;
  if (isError && !failed)
    seekMissingNames(info);
  failed |= isError;
  printer.HandleDiagnostic(level, info);
}

/// Clang quotes the names it stumbles over: "use of undeclared identifier 'tex2D'", "'mma.h' file not found".
void DiagnosticCollector::seekMissingNames(const clang::Diagnostic &info) {
  llvm::SmallString<256> message;
  info.FormatDiagnostic(message);
  std::vector<std::string> pieces = split(std::string_view(message.data(), message.size()), '\'');
  for (size_t i = 1; i < pieces.size(); i += 2) {
    auto part = missingHeader(pieces[i]);
    if (!part)
      part = missingName(pieces[i]);
    if (part && info.hasSourceManager())
      return noteMissing({pieces[i], std::string(*part), placeOf(info.getLocation(), info.getSourceManager())});
  }
}

void DiagnosticCollector::noteMissing(MissingPart part) {
  if (!missing && !failed)
    missing = std::move(part);
}

std::optional<Error> DiagnosticCollector::error() {
  if (missing)
    return Error{ErrorKind::Unsupported, "'" + missing->name + "' is not supported: " + missing->part, missing->where,
                 "Opsight has CUDA headers of its own and takes none of the SDK's; leave this part out of the file"};
  if (!failed)
    return std::nullopt;
  return Error{ErrorKind::User, std::string(trim(out.str()))};
}

} // namespace opsight::cuda
