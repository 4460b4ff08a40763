// Parameters find their tensors and scalars by name; one name that could mean two things is a question to the user.
#include "operator/binding.h"
#include "base/text.h"
#include "operator/declared.h"
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

namespace opsight::ops {
namespace {

/// "d_Q_ptr" is "q": decorations that say where a thing lives, not what it is.
std::string bare(std::string_view name) {
  std::string lower = toLower(name);
  for (std::string_view prefix : {"d_", "dev_", "g_", "p_", "in_", "ptr_", "gpu_"})
    if (lower.starts_with(prefix) && lower.size() > prefix.size()) {
      lower.erase(0, prefix.size());
      break;
    }
  for (std::string_view suffix : {"_ptr", "ptr", "_dev", "_gpu", "_d", "_data", "_tensor", "_"})
    if (lower.ends_with(suffix) && lower.size() > suffix.size()) {
      lower.erase(lower.size() - suffix.size());
      break;
    }
  return lower;
}

bool spelt(const std::vector<std::string> &spellings, const std::string &name) {
  return std::ranges::find(spellings, name) != spellings.end();
}

class Binder {
public:
  Binder(const Operator &op, std::span<const ParameterView> parameters,
         const std::map<std::string, std::string> &arguments, const Options &options)
      : op(op), parameters(parameters), arguments(arguments), options(options) {}

  Result<std::vector<Bound>> run() {
    if (auto status = nameParameters(arguments, parameters); !status)
      return std::unexpected(status.error());
    std::vector<Bound> bounds;
    for (const ParameterView &p : parameters) {
      auto said = arguments.find(p.name);
      auto bound = said != arguments.end() ? asSaid(p, said->second) : p.isPointer ? pointer(p) : scalar(p);
      if (!bound)
        return std::unexpected(bound.error());
      if (auto status = fits(p, *bound); !status)
        return std::unexpected(status.error());
      bounds.push_back(*bound);
    }
    if (auto status = complete(bounds); !status)
      return std::unexpected(status.error());
    return bounds;
  }

private:
  const Operator &op;
  std::span<const ParameterView> parameters;
  const std::map<std::string, std::string> &arguments;
  const Options &options;

  std::vector<std::string> tensorNames() const {
    std::vector<std::string> names;
    for (const TensorInfo &t : op.tensors())
      names.push_back(t.name);
    return names;
  }
  std::vector<std::string> scalarNames() const {
    std::vector<std::string> names;
    for (const ScalarInfo &s : op.scalars())
      names.push_back(s.name);
    return names;
  }
  /// A scalar that is no size, as the operator is asked for it.
  static Bound asked(const ScalarInfo &s) {
    return {Bound::Kind::Scalar, s.of.empty() ? s.name : s.of, s.factor};
  }
  const ScalarInfo *named(const std::string &name) const {
    auto found = std::ranges::find(op.scalars(), name, &ScalarInfo::name);
    return found == op.scalars().end() ? nullptr : &*found;
  }
  std::unexpected<Error> ask(const ParameterView &p, const std::string &why, std::vector<std::string> choices) const {
    return userError("parameter '" + p.type + " " + p.name + "' " + why,
                     "say it under [arguments], for example: " + p.name + " = \"" + choices.front() +
                         "\"   (choices: " + join(choices, ", ") + ")");
  }

  Result<Bound> asSaid(const ParameterView &p, const std::string &said) const {
    using Kind = Bound::Kind;
    if (p.isPointer) {
      for (const std::string &name : tensorNames())
        if (name == said)
          return Bound{Kind::Tensor, said};
      return userError("[arguments] " + p.name + ": " + unknownName("tensor", said, tensorNames()));
    }
    if (const ScalarInfo *scalar = named(said); scalar && scalar->kind != ScalarInfo::Kind::Size)
      return asked(*scalar);
    if (auto mentioned = symbolsOf(said)) {
      for (const std::string &symbol : *mentioned)
        if (const ScalarInfo *scalar = named(symbol); !scalar || scalar->kind != ScalarInfo::Kind::Size)
          return userError("[arguments] " + p.name + " = \"" + said + "\": " + unknownName("symbol", symbol, scalarNames()));
      return Bound{Kind::Expression, said};
    }
    double value = 0;
    auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), value);
    if (error == std::errc() && end == said.data() + said.size() && std::isfinite(value))
      return Bound{Kind::Float, said, value};
    return userError("[arguments] " + p.name + " = \"" + said + "\" is neither an expression, a number, nor a scalar of the operator",
                     "choices: " + join(scalarNames(), ", "));
  }

  const TensorInfo *spelling(const std::string &name) const {
    auto found = std::ranges::find_if(op.tensors(), [&](const TensorInfo &t) { return spelt(t.spellings, name); });
    return found == op.tensors().end() ? nullptr : &*found;
  }

  Result<Bound> pointer(const ParameterView &p) const {
    std::string name = toLower(p.name);
    const TensorInfo *exact = spelling(name), *found = exact ? exact : spelling(bare(p.name));
    // "d_x" is x on the device to some and the gradient of x to others.
    if (const TensorInfo *gradient = name.starts_with("d_") ? spelling("d" + bare(p.name)) : nullptr; gradient && !exact) {
      if (!found)
        return Bound{Bound::Kind::Tensor, gradient->name};
      return ask(p, "could be " + found->name + " or " + gradient->name, {gradient->name, found->name});
    }
    if (found)
      return Bound{Bound::Kind::Tensor, found->name};
    return ask(p, "could be any of the operator's tensors", tensorNames());
  }

  bool hears(const std::string &symbol) const {
    for (const ParameterView &p : parameters)
      for (const ScalarInfo &s : op.scalars())
        if (!p.isPointer && s.name == symbol && spelt(s.spellings, toLower(p.name)))
          return true;
    for (const auto &[name, said] : arguments)
      if (auto mentioned = symbolsOf(said); mentioned && spelt(*mentioned, symbol))
        return true;
    return false;
  }

  Result<Bound> scalar(const ParameterView &p) const {
    if (const ScalarInfo *size = named(p.name); size && size->kind == ScalarInfo::Kind::Size && isPlain(*size))
      return sizeOnce(p, *size); // "N" is N, whatever "n" may be
    for (const std::string &candidate : {toLower(p.name), bare(p.name)}) {
      for (const ScalarInfo &s : op.scalars())
        if (spelt(s.spellings, candidate))
          return s.kind == ScalarInfo::Kind::Size ? sizeOnce(p, s) : asked(s);
      for (const SharedSize &shared : op.sharedSizes())
        if (spelt(shared.spellings, candidate))
          return oneSize(p, shared);
    }
    return ask(p, "is no name that says what it receives", scalarNames());
  }

  /// Whether the very name of a size says which it is: where "n" could be either of two, "N" is one of them only beside the
  /// other.
  bool isPlain(const ScalarInfo &size) const {
    for (const SharedSize &shared : op.sharedSizes())
      if (shared.first == size.name && spelt(shared.spellings, toLower(size.name)))
        return hears(shared.second);
    return true;
  }

  /// Two parameters that would receive one size are seldom both right.
  Result<Bound> sizeOnce(const ParameterView &p, const ScalarInfo &size) const {
    for (const ParameterView &other : parameters) {
      if (other.isPointer || other.name == p.name || arguments.contains(other.name))
        continue;
      if (other.name == size.name || (!named(other.name) && spelt(size.spellings, toLower(other.name))))
        return ask(p, "and '" + other.name + "' would both receive " + size.name, scalarNames());
    }
    return Bound{Bound::Kind::Expression, size.name};
  }

  Result<Bound> oneSize(const ParameterView &p, const SharedSize &shared) const {
    int sizes = 0;
    for (const ParameterView &other : parameters)
      sizes += !other.isPointer && !arguments.contains(other.name) && spelt(shared.spellings, toLower(other.name));
    if (shared.alwaysAsked || hears(shared.first) || hears(shared.second) || sizes > 1)
      return ask(p, "could be " + shared.either, {shared.first, shared.second});
    Bound bound{Bound::Kind::Expression, shared.first};
    bound.onlyWhere = Requirement{shared.first, shared.second, p.name + " " + shared.both};
    return bound;
  }

  Status fits(const ParameterView &p, const Bound &bound) const {
    bool floating = p.element == ElementType::Float32 || p.element == ElementType::Float64;
    if (p.isPointer) {
      const TensorInfo *info = nullptr;
      for (const TensorInfo &t : op.tensors())
        if (t.name == bound.text)
          info = &t;
      if (info->role == TensorInfo::Role::Output && p.isConst)
        return userError("parameter '" + p.type + " " + p.name + "' receives " + info->name +
                         ", an output, but points to const");
      bool unwanted = info->when && !info->when->holds(options); // complete() says so
      ElementType element = op.elementOf(*info, options);
      if (p.element != element && !unwanted)
        return unsupported("parameter '" + p.type + " " + p.name + "' receives " + bound.text + ", which is " +
                               std::string(nameOf(element)) + " here, not " + std::string(nameOf(p.element)),
                           "only float kernels are judged so far; a bool mask is bool or unsigned char");
      return {};
    }
    if (bound.kind == Bound::Kind::Scalar && !floating && named(bound.text)->kind == ScalarInfo::Kind::Real)
      return userError("parameter '" + p.type + " " + p.name + "' receives the " + bound.text + " but is no floating-point number");
    return {};
  }

  /// Every tensor that the operator must have is received once; one that goes with an option exactly where that asks for it.
  Status complete(const std::vector<Bound> &bounds) const {
    for (const TensorInfo &t : op.tensors()) {
      std::vector<std::string> receivers;
      for (size_t n = 0; n < bounds.size(); ++n)
        if (bounds[n].kind == Bound::Kind::Tensor && bounds[n].text == t.name)
          receivers.push_back(parameters[n].name);
      if (receivers.size() > 1)
        return userError("parameters " + join(receivers, " and ") + " would both receive " + t.name,
                         "say under [arguments] what each receives");
      bool wanted = t.when ? t.when->holds(options) : !t.optional;
      if (receivers.empty() && wanted)
        return userError("no parameter of the kernel receives " + t.name,
                         "say under [arguments] which one does, for example: x = \"" + t.name + "\"");
      if (!receivers.empty() && t.when && !wanted) {
        auto option = options.find(t.when->option);
        return userError("parameter " + receivers.front() + " receives the " + t.name + ", but the option " + t.when->option +
                             " is \"" + (option == options.end() ? "" : option->second) + "\"",
                         "write " + t.when->option + " = \"" + join(t.when->values, "\" or \"") + "\" under [options]");
      }
    }
    return {};
  }
};

} // namespace

Status nameParameters(const std::map<std::string, std::string> &arguments, std::span<const ParameterView> parameters) {
  std::vector<std::string> known;
  for (const ParameterView &p : parameters)
    known.push_back(p.name);
  for (const auto &[name, value] : arguments)
    if (std::ranges::find(known, name) == known.end())
      return userError("[arguments] " + unknownName("parameter of the kernel", name, known));
  return {};
}

Result<std::vector<Bound>> bind(const Operator &op, std::span<const ParameterView> parameters,
                                const std::map<std::string, std::string> &arguments, const Options &options) {
  if (op.isDeclared())
    return bindDeclared(static_cast<const Declared &>(op), parameters, arguments);
  return Binder(op, parameters, arguments, options).run();
}

std::vector<Requirement> impliedRequirements(const Operator &op, std::span<const Bound> bounds,
                                             std::span<const std::string> heardElsewhere) {
  if (op.isDeclared())
    return {}; // its symbols mean what the user means by them
  std::set<std::string> heard(heardElsewhere.begin(), heardElsewhere.end());
  for (const Bound &bound : bounds)
    if (bound.kind == Bound::Kind::Expression)
      if (auto mentioned = symbolsOf(bound.text))
        heard.insert(mentioned->begin(), mentioned->end());
  return op.impliedBy(heard);
}

std::optional<std::string> broken(const Requirement &requirement, const Symbols &symbols) {
  auto left = evaluate(requirement.left, symbols), right = evaluate(requirement.right, symbols);
  if (!left || !right)
    return describe(left ? right.error() : left.error());
  if (*left == *right)
    return std::nullopt;
  return requirement.why + " (" + requirement.left + " = " + std::to_string(*left) + ", " + requirement.right + " = " +
         std::to_string(*right) + ")";
}

} // namespace opsight::ops
