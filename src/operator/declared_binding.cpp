#include "base/text.h"
#include "operator/declared.h"
#include <algorithm>
#include <charconv>
#include <cmath>

namespace opsight::ops {
namespace {

std::string written(const ParameterView &p) { return "parameter '" + p.type + (p.type.ends_with('*') ? "" : " ") + p.name + "'"; }

class DeclaredBinder {
public:
  explicit DeclaredBinder(const Declared &op) : op(op) {
    for (const DeclaredBuffer &buffer : op.buffers())
      bufferNames.push_back(buffer.name);
  }

  Result<Bound> bind(const ParameterView &p, const std::string *said) const {
    Result<Bound> bound = p.isPointer ? pointer(p, said) : scalar(p, said);
    if (bound && p.isPointer)
      if (Status fits = sameType(p, *op.buffer(bound->text)); !fits)
        return std::unexpected(fits.error());
    return bound;
  }

private:
  const Declared &op;
  std::vector<std::string> bufferNames;

  Result<Bound> pointer(const ParameterView &p, const std::string *said) const {
    const std::string &name = said ? *said : p.name;
    if (op.buffer(name))
      return Bound{Bound::Kind::Tensor, name};
    if (said)
      return userError("[arguments] " + p.name + ": " + unknownName("buffer", name, bufferNames));
    return userError(written(p) + " is no buffer: " + unknownName("buffer", name, bufferNames),
                     "declare it under [buffers], or say under [arguments] which one it receives: " + p.name + " = \"" +
                         bufferNames.front() + "\"");
  }

  Result<Bound> scalar(const ParameterView &p, const std::string *said) const {
    const std::vector<std::string> &symbols = op.symbols();
    if (!said) {
      if (std::ranges::find(symbols, p.name) != symbols.end())
        return Bound{Bound::Kind::Expression, p.name};
      return userError(written(p) + " is given no value" +
                           (nearestName(p.name, symbols).empty() ? "" : ", did you mean '" + nearestName(p.name, symbols) + "'?"),
                       "say under [arguments] what it receives: " + p.name + " = 2.0 or an expression over [symbols]");
    }
    if (auto mentioned = symbolsOf(*said)) {
      for (const std::string &symbol : *mentioned)
        if (std::ranges::find(symbols, symbol) == symbols.end())
          return userError("[arguments] " + p.name + " = \"" + *said + "\": " + unknownName("symbol", symbol, symbols));
      return Bound{Bound::Kind::Expression, *said};
    }
    double value = 0;
    auto [end, failed] = std::from_chars(said->data(), said->data() + said->size(), value);
    if (failed != std::errc() || end != said->data() + said->size() || !std::isfinite(value))
      return userError("[arguments] " + p.name + " = \"" + *said + "\" is neither a number nor an expression over [symbols]");
    bool floating = p.element == ElementType::Float32 || p.element == ElementType::Float64;
    if (!floating && value != std::floor(value))
      return userError(written(p) + " would receive " + *said + ", which is no integer");
    return Bound{Bound::Kind::Float, *said, value};
  }

  Status sameType(const ParameterView &p, const DeclaredBuffer &buffer) const {
    if (p.element == buffer.type.element)
      return {};
    return userError(written(p) + " receives buffer " + buffer.name + ", which is declared as " + buffer.type.name,
                     "give the buffer the type that the kernel reads, or another buffer under [arguments]", buffer.where);
  }
};

} // namespace

Result<std::vector<Bound>> bindDeclared(const Declared &op, std::span<const ParameterView> parameters,
                                        const std::map<std::string, std::string> &arguments) {
  if (Status named = nameParameters(arguments, parameters); !named)
    return std::unexpected(named.error());
  DeclaredBinder binder(op);
  std::vector<Bound> bounds;
  for (const ParameterView &p : parameters) {
    auto said = arguments.find(p.name);
    Result<Bound> bound = binder.bind(p, said == arguments.end() ? nullptr : &said->second);
    if (!bound)
      return std::unexpected(bound.error());
    bounds.push_back(std::move(*bound));
  }
  return bounds;
}

} // namespace opsight::ops
