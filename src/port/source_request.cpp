#include "port/source_request.h"
#include "base/file.h"
#include "base/text.h"
#include "port/port_file.h"
#include <charconv>

namespace opsight::port {

namespace {

/// "ceil_div(L, 64), H, B": commas within parentheses separate nothing.
std::vector<std::string> splitExpressions(const std::string &text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string &part : parts)
    part = std::string(trim(part));
  return parts;
}

Result<std::vector<Placed>> expressions(const ops::Operator &op, const std::string &text, const std::string &option) {
  SourcePlace where{.file = option};
  if (text.empty())
    return userError(option + " is missing", "a .cu file needs " + option + "; or write a port file", where);
  std::vector<Placed> values;
  for (const std::string &part : splitExpressions(text))
    values.push_back({part, where});
  if (values.size() > 3)
    return userError(option + " takes one to three expressions", {}, where);
  for (const Placed &value : values)
    if (Status checked = checkExpression(op, value); !checked)
      return std::unexpected(checked.error());
  return values;
}

struct Pair {
  std::string name;
  Placed value;
};

Result<Pair> pairOf(const std::string &text, const std::string &option) {
  size_t equals = text.find('=');
  if (equals == text.npos || equals == 0)
    return userError("'" + text + "' is not NAME=VALUE", {}, {.file = option});
  return Pair{std::string(trim(std::string_view(text).substr(0, equals))),
              {std::string(trim(std::string_view(text).substr(equals + 1))), {.file = option + " " + text}}};
}

Status readArguments(Request &request, const std::vector<std::string> &texts) {
  for (const std::string &text : texts) {
    Result<Pair> pair = pairOf(text, "--argument");
    if (!pair)
      return std::unexpected(pair.error());
    double number = 0;
    auto [end, failed] = std::from_chars(pair->value.text.data(), pair->value.text.data() + pair->value.text.size(), number);
    bool isNumber = failed == std::errc() && end == pair->value.text.data() + pair->value.text.size();
    if (!isNumber)
      if (Status checked = checkExpression(*request.op, pair->value, true); !checked)
        return checked;
    request.arguments[pair->name] = pair->value;
  }
  return {};
}

Status readDefines(Request &request, const std::vector<std::string> &texts) {
  for (const std::string &text : texts) {
    Result<Pair> pair = pairOf(text, "--define");
    if (!pair)
      return std::unexpected(pair.error());
    Status checked = checkMacroName(pair->name, pair->value.where);
    if (checked)
      checked = checkExpression(*request.op, pair->value);
    if (!checked)
      return checked;
    request.defines[pair->name] = {pair->value, true};
  }
  return {};
}

Status readOptions(Request &request, const std::vector<std::string> &texts) {
  std::map<std::string, SourcePlace> places;
  for (const std::string &text : texts) {
    Result<Pair> pair = pairOf(text, "--option");
    if (!pair)
      return std::unexpected(pair.error());
    request.options[pair->name] = pair->value.text;
    places[pair->name] = pair->value.where;
  }
  return completeOptions(*request.op, request.options, places);
}

Status readLimits(Request &request, const std::vector<std::string> &texts) {
  for (const std::string &text : texts) {
    Result<Pair> pair = pairOf(text, "--limit");
    if (!pair)
      return std::unexpected(pair.error());
    LimitRule rule{{pair->name, pair->value.where}, {}};
    if (Status checked = checkExpression(*request.op, rule.expression); !checked)
      return checked;
    for (const std::string &part : split(pair->value.text, ',')) {
      Result<int64_t> value = evaluate(part, {});
      if (!value)
        return userError("'" + part + "' is not a whole number", {}, pair->value.where);
      rule.values.push_back(*value);
    }
    request.limits.push_back(std::move(rule));
  }
  return {};
}

} // namespace

Result<Request> requestForSource(const std::filesystem::path &file, const SourceOptions &said) {
  if (Result<std::string> text = readFile(file); !text)
    return std::unexpected(text.error());
  if (said.operatorName.empty())
    return userError("which operator does '" + file.string() + "' compute?",
                     "say it with --operator NAME (see: opsight ops), or write a port file");
  Result<const ops::Operator *> op = ops::findOperator(said.operatorName);
  if (!op)
    return std::unexpected(op.error());
  Request request;
  request.file = request.source = file;
  request.op = *op;
  request.kernel = said.kernel;
  Result<std::vector<Placed>> grid = expressions(**op, said.grid, "--grid");
  if (!grid)
    return std::unexpected(grid.error());
  Result<std::vector<Placed>> block = expressions(**op, said.block, "--block");
  if (!block)
    return std::unexpected(block.error());
  request.launch.grid = *grid;
  request.launch.block = *block;
  if (!said.shared.empty()) {
    request.launch.shared = {said.shared, {.file = "--shared"}};
    if (Status checked = checkExpression(**op, request.launch.shared); !checked)
      return std::unexpected(checked.error());
  }
  for (auto [read, texts] : {std::pair(&readArguments, &said.arguments), std::pair(&readDefines, &said.defines),
                             std::pair(&readOptions, &said.options), std::pair(&readLimits, &said.limits)})
    if (Status done = read(request, *texts); !done)
      return std::unexpected(done.error());
  return request;
}

} // namespace opsight::port
