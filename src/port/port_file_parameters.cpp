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
  static const std::vector<std::string> known = {"value", "search", "hint", "must", "why"};
  bool hasValue = false;
  for (const auto &[name, node] : table) {
    std::string key(name.str());
    Status read;
    if (key == "value" || key == "search") {
      Result<std::vector<int64_t>> numbers = wholeNumbers(key, node);
      if (!numbers)
        return std::unexpected(numbers.error());
      hasValue |= key == "value";
      if (key == "value" && numbers->size() != 1)
        return wrongType(key, "one whole number", node);
      key == "value" ? void(parameter.value = numbers->front()) : void(parameter.search = std::move(*numbers));
    } else if (key == "hint" || key == "why") {
      Result<Placed> said = text(key, node);
      if (!said)
        return std::unexpected(said.error());
      (key == "hint" ? parameter.hint : parameter.why) = said->text;
      if (key == "hint" && !contains(hintParts(), said->text))
        return userError(unknownName("hint", said->text, hintParts()), "known: " + join(hintParts(), ", "),
                         said->where);
    } else if (key == "must") {
      const toml::array *array = node.as_array();
      for (size_t i = 0; i < (array ? array->size() : 1); ++i) {
        Result<Placed> rule = text(key, array ? *array->get(i) : node);
        if (!rule)
          return std::unexpected(rule.error());
        parameter.must.push_back(*rule);
      }
    } else {
      return userError(unknownName("key", key, known) + " in [parameters." + parameter.name + "]",
                       "known here: " + join(known, ", "), placeOf(name.source()));
    }
  }
  if (!hasValue)
    return userError("parameter '" + parameter.name + "' has no value", "add the one to begin with: value = 64",
                     placeOf(table.source()));
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
  const toml::table *table = node.as_table();
  if (!table)
    return wrongType(key, "a section, [recipe]", node);
  static const std::vector<std::string> known = {"mapping", "keeps", "operations", "working_set"};
  RecipeFacts facts;
  for (const auto &[name, value] : *table) {
    std::string field(name.str());
    if (field == "mapping") {
      if (Status kept = keep(text(field, value), facts.mapping); !kept)
        return kept;
      if (facts.mapping != "simd" && facts.mapping != "simt")
        return wrongType(field, "simd or simt", value);
    } else if (field == "keeps") {
      if (!value.is_table())
        return wrongType(field, "a table: { kv = \"row-major\" }", value);
      for (const auto &[hint, layout] : *value.as_table())
        if (Status kept = keep(text(std::string(hint.str()), layout), facts.keeps[std::string(hint.str())]); !kept)
          return kept;
    } else if (field == "operations" || field == "working_set") {
      Result<Placed> modelled = expression(field, value);
      if (!modelled)
        return std::unexpected(modelled.error());
      (field == "operations" ? facts.operations : facts.workingSet) = *modelled;
    } else {
      return userError(unknownName("key", field, known) + " in [recipe]", "known here: " + join(known, ", "),
                       placeOf(name.source()));
    }
  }
  if (facts.mapping.empty())
    return userError("[recipe] says no mapping", "mapping = \"simd\" or \"simt\"", placeOf(node.source()));
  request.recipe = std::move(facts);
  return {};
}

} // namespace opsight::port
