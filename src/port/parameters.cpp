#include "port/parameters.h"
#include "base/text.h"

namespace opsight::port {

const std::vector<std::string> &hintParts() {
  static const std::vector<std::string> parts = {"tile.rows", "tile.columns", "reduce-stride"};
  return parts;
}

Symbols standardValues(std::span<const Parameter> parameters) {
  Symbols values;
  for (const Parameter &parameter : parameters)
    values[parameter.name] = parameter.value;
  return values;
}

/// "tile=64x128" says tile.rows and tile.columns.
static std::map<std::string, int64_t> partsOf(const Hint &hint) {
  if (hint.key == "reduce-stride")
    return {{hint.key, std::stoll(hint.value)}};
  if (hint.key != "tile")
    return {};
  size_t cross = hint.value.find('x');
  return {{"tile.rows", std::stoll(hint.value.substr(0, cross))},
          {"tile.columns", std::stoll(hint.value.substr(cross + 1))}};
}

Symbols fixedBy(std::span<const Hint> hints, std::span<const Parameter> parameters) {
  Symbols fixed;
  for (const Hint &hint : hints)
    for (const auto &[part, value] : partsOf(hint))
      for (const Parameter &parameter : parameters)
        if (parameter.hint == part)
          fixed[parameter.name] = value;
  return fixed;
}

std::optional<std::string> refused(std::span<const Parameter> parameters, const Symbols &values) {
  for (const Parameter &parameter : parameters)
    for (const Placed &rule : parameter.must)
      if (Result<int64_t> holds = evaluate(rule.text, values); !holds || !*holds)
        return (parameter.why.empty() ? parameter.name + " must keep " + rule.text : parameter.why) + ", not " +
               std::to_string(values.at(parameter.name));
  return std::nullopt;
}

namespace {

/// Puts values in the places of names.
class Filling {
public:
  explicit Filling(const Symbols &values) : values(values) {}
  void fill(Placed &text) const { text.text = withValues(text.text, values); }
  void fill(std::vector<Placed> &texts) const {
    for (Placed &text : texts)
      fill(text);
  }
  void fill(Launch &launch) const { fill(launch.grid), fill(launch.block), fill(launch.shared); }
  void fill(std::map<std::string, Placed> &arguments) const {
    for (auto &[name, argument] : arguments)
      fill(argument);
  }
  /// A kernel's own name stays, whatever its parameters are called.
  void fillName(std::string &kernel) const {
    if (size_t open = kernel.find('<'); open != kernel.npos)
      kernel = kernel.substr(0, open) + withValues(std::string_view(kernel).substr(open), values);
  }

private:
  const Symbols &values;
};

/// "tile" to "64x128" for what a tile hint would fix, the rest by the hint's name or the parameter's own.
std::map<std::string, std::string> shown(std::span<const Parameter> parameters, const Symbols &values) {
  std::map<std::string, std::string> texts;
  for (const Parameter &parameter : parameters) {
    std::string value = std::to_string(values.at(parameter.name));
    if (parameter.hint == "tile.rows")
      texts["tile"] = value + texts["tile"];
    else if (parameter.hint == "tile.columns")
      texts["tile"] += "x" + value;
    else
      texts[parameter.hint == "reduce-stride" ? "reduce_stride" : parameter.name] = value;
  }
  return texts;
}

} // namespace

SourceKernel instance(const Request &request, const Symbols &values) {
  SourceKernel kernel{.name = {},
                      .proposer = {},
                      .parameters = shown(request.parameters, values),
                      .file = request.source,
                      .text = request.sourceText,
                      .kernel = request.kernel,
                      .launch = request.launch,
                      .arguments = request.arguments,
                      .defines = request.defines,
                      .limits = request.limits,
                      .then = request.then};
  if (request.parameters.empty())
    return kernel;
  Filling filling(values);
  filling.fillName(kernel.kernel);
  filling.fill(kernel.launch);
  filling.fill(kernel.arguments);
  for (auto &[name, define] : kernel.defines)
    if (define.isExpression)
      filling.fill(define.value);
  for (LimitRule &rule : kernel.limits)
    filling.fill(rule.expression);
  for (FurtherLaunch &next : kernel.then) {
    filling.fillName(next.kernel);
    filling.fill(next.launch);
    filling.fill(next.arguments);
  }
  return kernel;
}

} // namespace opsight::port
