// A port file (TOML, interface.md) to a Request. Whatever it does not know is an error of the user with file, line,
// column and the nearest known name; nothing is skipped.
#pragma once
#include "port/request.h"

namespace opsight::port {

/// Reads and checks the file; paths in it are relative to it.
Result<Request> readPortFile(const std::filesystem::path &path);

/// Completes `options` with the operator's defaults; an unknown name or value is a user error at its place.
Status completeOptions(const ops::Operator &op, ops::Options &options, const std::map<std::string, SourcePlace> &places);

/// Checks that `text` is an expression over the operator's symbols and the kernel's parameters (or, for arguments, also
/// the operator's tensors and scalars).
Status checkExpression(const ops::Operator &op, const Placed &text, bool tensorsToo = false,
                       std::span<const Parameter> parameters = {});
/// Whether a name under [defines] can be a macro's.
Status checkMacroName(const std::string &name, const SourcePlace &where);

/// "B=1,H=8,distribution=peaked" to a case completed and checked by the operator, under `options`.
Result<ops::Case> parseCase(const ops::Operator &op, const std::string &text, const ops::Options &options);

/// One part of a case, in the order they were written.
struct CaseField {
  std::string key;
  std::string value;
  SourcePlace where{};
};
Result<ops::Case> makeCase(const ops::Operator &op, const std::vector<CaseField> &fields, const ops::Options &options,
                           SourcePlace where);

/// Known input distributions (interface.md).
const std::vector<std::string> &distributions();

} // namespace opsight::port
