#include "port/declared_text.h"
#include "port/toml_text.h"
#include <sstream>

namespace opsight::port {

namespace {

std::string absolutePath(const std::filesystem::path &path) { return std::filesystem::absolute(path).lexically_normal().string(); }

std::string fillText(const ops::DeclaredBuffer &buffer) {
  if (buffer.fill == ops::Fill::File)
    return absolutePath(buffer.file);
  for (const auto &[name, fill] : ops::fillNames())
    if (fill == buffer.fill)
      return name;
  return {};
}

std::string roleText(ops::TensorInfo::Role role) {
  using Role = ops::TensorInfo::Role;
  return role == Role::Input ? "input" : role == Role::Output ? "output" : role == Role::InOut ? "inout" : "scratch";
}

} // namespace

std::string declarationText(const Request &request) {
  std::ostringstream out;
  out << "\n[symbols]\n";
  for (const ops::DeclaredSymbol &symbol : request.declared->declaredSymbols()) {
    out << tomlQuoted(symbol.name) << " = [";
    for (size_t i = 0; i < symbol.values.size(); ++i)
      out << (i ? ", " : "") << symbol.values[i];
    out << "]\n";
  }
  out << "\n[buffers]\n";
  for (const ops::DeclaredBuffer &buffer : request.declared->buffers())
    out << tomlQuoted(buffer.name) << " = { type = " << tomlQuoted(buffer.type.name) << ", count = " << tomlQuoted(buffer.count)
        << ", fill = " << tomlQuoted(fillText(buffer)) << ", role = " << tomlQuoted(roleText(buffer.role)) << " }\n";
  const DeclaredReference &reference = request.reference;
  out << "\n[reference]\nsource = " << tomlQuoted(reference.source.empty() ? "original" : absolutePath(reference.source)) << "\n";
  if (!reference.function.empty())
    out << "function = " << tomlQuoted(reference.function) << "\n";
  if (!reference.arguments.empty())
    out << "\n[reference.arguments]\n";
  for (const auto &[name, value] : reference.arguments)
    out << tomlQuoted(name) << " = " << (symbolsOf(value.text) ? tomlQuoted(value.text) : value.text) << "\n";
  return out.str();
}

} // namespace opsight::port
