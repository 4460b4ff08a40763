// What may be varied of a kernel, as its port file declares it: [parameters.NAME], and [recipe] in the files of the kernel
// library.
#include "base/text.h"
#include "port/contains.h"
#include "port/parameters.h"
#include "port/port_file_reader.h"

namespace opsight::port {

Result<std::vector<int64_t>> PortFileReader::wholeNumbers(const std::string &key, const toml::node &node) const {
  constexpr const char *expected = "a whole number or a list of them";
  if (auto single = node.value_exact<int64_t>())
    return std::vector{*single};
  const toml::array *array = node.as_array();
  if (!array || array->empty())
    return std::unexpected(wrongType(key, expected, node).error());
  std::vector<int64_t> numbers;
  for (const toml::node &element : *array) {
    auto number = element.value_exact<int64_t>();
    if (!number)
      return std::unexpected(wrongType(key, expected, element).error());
    numbers.push_back(*number);
  }
  return numbers;
}

Status PortFileReader::readParameter(Parameter &parameter, const toml::table &table) const {
  if (Status known = checkKeys(table, "parameters." + parameter.name, {"value", "search", "hint", "must", "why"}); !known)
    return known;
  const toml::node *value = table.get("value");
  if (!value)
    return userError("parameter '" + parameter.name + "' has no value", "add the one to begin with: value = 64",
                     placeOf(table.source()));
  Result<std::vector<int64_t>> first = wholeNumbers("value", *value);
  if (!first)
    return std::unexpected(first.error());
  if (first->size() != 1)
    return wrongType("value", "one whole number", *value);
  parameter.value = first->front();
  if (const toml::node *search = table.get("search")) {
    Result<std::vector<int64_t>> numbers = wholeNumbers("search", *search);
    if (!numbers)
      return std::unexpected(numbers.error());
    parameter.search = std::move(*numbers);
  }
  if (const toml::node *hint = table.get("hint")) {
    if (Status kept = keep(text("hint", *hint), parameter.hint); !kept)
      return kept;
    if (!contains(hintParts(), parameter.hint))
      return userError(unknownName("hint", parameter.hint, hintParts()), "known: " + join(hintParts(), ", "),
                       placeOf(hint->source()));
  }
  if (const toml::node *why = table.get("why"))
    if (Status kept = keep(text("why", *why), parameter.why); !kept)
      return kept;
  return readRules(parameter, table.get("must"));
}

/// One rule or a list of them; null: none.
Status PortFileReader::readRules(Parameter &parameter, const toml::node *must) const {
  const toml::array *array = must ? must->as_array() : nullptr;
  const size_t count = array ? array->size() : must ? 1 : 0;
  for (size_t i = 0; i < count; ++i) {
    Result<Placed> rule = text("must", array ? *array->get(i) : *must);
    if (!rule)
      return std::unexpected(rule.error());
    parameter.must.push_back(*rule);
  }
  return {};
}

/// What only holds once all parameters are known: rules name parameters alone, and the values to begin with keep them.
Status PortFileReader::checkParameter(const Parameter &parameter, const SourcePlace &where) const {
  const Symbols standard = standardValues(request.parameters);
  for (const Placed &rule : parameter.must) {
    Result<int64_t> holds = evaluate(rule.text, standard);
    if (!holds)
      return userError(holds.error().what, "`must` is an expression over the parameters: queries % 16 == 0",
                       rule.where);
    if (!*holds)
      return userError("the value " + std::to_string(parameter.value) + " of parameter '" + parameter.name +
                           "' breaks its own rule " + rule.text +
                           (parameter.why.empty() ? "" : " (" + parameter.why + ")"),
                       {}, where);
  }
  return {};
}

Status PortFileReader::readParameters(const toml::table &root) {
  const toml::node *section = root.get("parameters");
  if (!section)
    return {};
  const toml::table *table = section->as_table();
  if (!table)
    return wrongType("parameters", "sections, [parameters.NAME]", *section);
  for (const auto &[name, node] : *table) {
    Parameter parameter{.name = std::string(name.str())};
    SourcePlace where = placeOf(name.source());
    if (Status fits = checkMacroName(parameter.name, where); !fits)
      return userError("'" + parameter.name + "' is no name of a parameter", "letters, digits and _ only", where);
    const bool isFunction = contains(std::vector<std::string>{"min", "max", "ceil_div"}, parameter.name);
    if (Status known = checked({parameter.name, where}, true); known || isFunction)
      return userError("parameter '" + parameter.name + "' has the name of something of the operator or of expressions",
                       "choose another one", where);
    if (!node.is_table())
      return userError("'parameters." + parameter.name + "' must be a section with at least a value",
                       "write [parameters." + parameter.name + "] and below it value = 64", where);
    if (Status read = readParameter(parameter, *node.as_table()); !read)
      return read;
    request.parameters.push_back(std::move(parameter));
  }
  for (const Parameter &parameter : request.parameters)
    if (Status holds = checkParameter(parameter, placeOf(table->get(parameter.name)->source())); !holds)
      return holds;
  return {};
}

Status PortFileReader::recipe(const std::string &key, const toml::node &node) {
  request.recipe.emplace();
  if (Status read = section(key, node,
                            {{"mapping", &PortFileReader::mapping},
                             {"keeps", &PortFileReader::keeps},
                             {"operations", &PortFileReader::operations},
                             {"working_set", &PortFileReader::workingSet}});
      !read)
    return read;
  if (request.recipe->mapping.empty())
    return userError("[recipe] says no mapping", "mapping = \"simd\" or \"simt\"", placeOf(node.source()));
  return {};
}

Status PortFileReader::mapping(const std::string &key, const toml::node &node) {
  std::string &mapping = request.recipe->mapping;
  if (Status kept = keep(text(key, node), mapping); !kept)
    return kept;
  return mapping == "simd" || mapping == "simt" ? Status() : wrongType(key, "simd or simt", node);
}

Status PortFileReader::keeps(const std::string &key, const toml::node &node) {
  if (!node.is_table())
    return wrongType(key, "a table: { kv = \"row-major\" }", node);
  for (const auto &[hint, layout] : *node.as_table())
    if (Status kept = keep(text(std::string(hint.str()), layout), request.recipe->keeps[std::string(hint.str())]); !kept)
      return kept;
  return {};
}

Status PortFileReader::operations(const std::string &key, const toml::node &node) {
  return keep(expression(key, node), request.recipe->operations);
}

Status PortFileReader::workingSet(const std::string &key, const toml::node &node) {
  return keep(expression(key, node), request.recipe->workingSet);
}

} // namespace opsight::port
