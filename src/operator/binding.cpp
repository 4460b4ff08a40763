// Parameters find their tensors and scalars by name; one name that could mean two things is a question to the user.
#include "operator/binding.h"
#include "base/text.h"
#include "operator/declared.h"
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
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

/// One length for queries and keys, as kernels that know no cross attention call it.
const std::vector<std::string> bothLengths{"n",   "t",       "seq",        "seq_len",         "seqlen", "seq_length",
                                           "len", "sequence_length", "length", "context", "ctx",    "n_ctx", "tokens"};
const std::vector<std::string> scaleLog2{"scale_log2", "softmax_scale_log2", "scale_log2e"};

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

  std::string option(const std::string &name) const {
    auto found = options.find(name);
    return found == options.end() ? std::string() : found->second;
  }
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
    if (said == "scale")
      return Bound{Kind::Scale, said, 1};
    if (said == "scale_log2")
      return Bound{Kind::Scale, said, std::numbers::log2e};
    if (said == "causal")
      return Bound{Kind::Causal, said};
    if (auto mentioned = symbolsOf(said)) {
      std::vector<std::string> known = scalarNames();
      for (const std::string &symbol : *mentioned)
        if (std::ranges::find(known, symbol) == known.end() || symbol == "scale" || symbol == "causal")
          return userError("[arguments] " + p.name + " = \"" + said + "\": " + unknownName("symbol", symbol, known));
      return Bound{Kind::Expression, said};
    }
    double value = 0;
    auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), value);
    if (error == std::errc() && end == said.data() + said.size() && std::isfinite(value))
      return Bound{Kind::Float, said, value};
    return userError("[arguments] " + p.name + " = \"" + said + "\" is neither an expression, a number, nor scale or causal",
                     "choices: " + join(scalarNames(), ", "));
  }

  Result<Bound> pointer(const ParameterView &p) const {
    std::string name = bare(p.name);
    for (const TensorInfo &t : op.tensors())
      if (spelt(t.spellings, name))
        return Bound{Bound::Kind::Tensor, t.name};
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
    std::string name = toLower(p.name);
    if (spelt(scaleLog2, name))
      return Bound{Bound::Kind::Scale, "scale_log2", std::numbers::log2e};
    for (const std::string &candidate : {name, bare(p.name)}) {
      for (const ScalarInfo &s : op.scalars())
        if (spelt(s.spellings, candidate))
          return s.name == "scale"    ? Bound{Bound::Kind::Scale, "scale", 1}
                 : s.name == "causal" ? Bound{Bound::Kind::Causal, "causal"}
                                      : Bound{Bound::Kind::Expression, s.name};
      if (spelt(bothLengths, candidate))
        return oneLength(p);
    }
    return ask(p, "is no name that says what it receives", scalarNames());
  }

  Result<Bound> oneLength(const ParameterView &p) const {
    bool queries = hears("L"), keys = hears("S");
    int lengths = 0;
    for (const ParameterView &other : parameters)
      lengths += !other.isPointer && !arguments.contains(other.name) && spelt(bothLengths, toLower(other.name));
    if (queries || keys || lengths > 1)
      return ask(p, "could be the number of queries or of keys", {"L", "S"});
    Bound bound{Bound::Kind::Expression, "L"};
    bound.onlyWhere = Requirement{"L", "S", p.name + " is one length for queries and keys"};
    return bound;
  }

  /// The element type the tensor has under the options.
  ElementType elementOf(const std::string &tensor) const {
    return tensor == "mask" && option("mask") == "bool" ? ElementType::UInt8 : ElementType::Float32;
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
      bool unwanted = info->name == "mask" && option("mask") == "none"; // complete() says so
      if (p.element != elementOf(bound.text) && !unwanted)
        return unsupported("parameter '" + p.type + " " + p.name + "' receives " + bound.text + ", which is " +
                               std::string(nameOf(elementOf(bound.text))) + " here, not " +
                               std::string(nameOf(p.element)),
                           "only float kernels are judged so far; a bool mask is bool or unsigned char");
      return {};
    }
    if (bound.kind == Bound::Kind::Scale && !floating)
      return userError("parameter '" + p.type + " " + p.name + "' receives the scale but is no floating-point number");
    return {};
  }

  /// Every tensor that the operator must have is received once; a mask exactly where the option asks for one.
  Status complete(const std::vector<Bound> &bounds) const {
    for (const TensorInfo &t : op.tensors()) {
      std::vector<std::string> receivers;
      for (size_t n = 0; n < bounds.size(); ++n)
        if (bounds[n].kind == Bound::Kind::Tensor && bounds[n].text == t.name)
          receivers.push_back(parameters[n].name);
      if (receivers.size() > 1)
        return userError("parameters " + join(receivers, " and ") + " would both receive " + t.name,
                         "say under [arguments] what each receives");
      bool wanted = !t.optional || (t.name == "mask" && option("mask") != "none" && !option("mask").empty());
      if (receivers.empty() && wanted)
        return userError("no parameter of the kernel receives " + t.name,
                         "say under [arguments] which one does, for example: x = \"" + t.name + "\"");
      if (!receivers.empty() && t.name == "mask" && !wanted)
        return userError("parameter " + receivers.front() + " receives the mask, but the option mask is \"none\"",
                         "write mask = \"bool\" or mask = \"additive\" under [options]");
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
  struct Pair {
    const char *unheard, *twin, *why;
  };
  const Pair pairs[] = {
      {"S", "L", "the kernel never hears of S, so it has as many keys as queries"},
      {"L", "S", "the kernel never hears of L, so it has as many queries as keys"},
      {"Hkv", "H", "the kernel never hears of Hkv, so its heads are not grouped"},
      {"Dv", "D", "the kernel never hears of Dv, so its value is as wide as its query"},
  };
  std::vector<Requirement> requirements;
  for (const Pair &pair : pairs)
    if (std::ranges::find(op.symbols(), pair.unheard) != op.symbols().end() && !heard.contains(pair.unheard) &&
        heard.contains(pair.twin))
      requirements.push_back({pair.unheard, pair.twin, pair.why});
  // A kernel whose launch and parameters name neither D nor Dv has them built in; that is for its [limits] to say.
  if (!heard.contains("Dv") && !heard.contains("D"))
    requirements.push_back({"Dv", "D", "the kernel never hears of Dv, so its value is as wide as its query"});
  return requirements;
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
