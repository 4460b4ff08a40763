// Cases and options as users write them, in a port file or behind --case; one road for both.
#include "base/text.h"
#include "port/contains.h"
#include "port/port_file.h"
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace opsight::port {

const std::vector<std::string> &distributions() {
  static const std::vector<std::string> names = {"normal", "scaled", "shifted", "peaked", "long-tailed", "constant"};
  return names;
}

Status completeOptions(const ops::Operator &op, ops::Options &options,
                       const std::map<std::string, SourcePlace> &places) {
  auto placeOf = [&](const std::string &name) {
    auto found = places.find(name);
    return found == places.end() ? SourcePlace{} : found->second;
  };
  std::vector<std::string> known;
  for (const ops::OptionInfo &info : op.options())
    known.push_back(info.name);
  for (const auto &[name, value] : options) {
    auto info = std::ranges::find(op.options(), name, &ops::OptionInfo::name);
    if (info == op.options().end())
      return userError(unknownName("option", name, known), "see: opsight ops " + std::string(op.name()), placeOf(name));
    if (!contains(info->values, value))
      return userError(unknownName("value of option " + name, value, info->values),
                       name + " = " + join(info->values, " | "), placeOf(name));
  }
  for (const ops::OptionInfo &info : op.options())
    options.try_emplace(info.name, info.values.front());
  return {};
}

Status checkExpression(const ops::Operator &op, const Placed &text, bool tensorsToo, std::span<const Parameter> parameters) {
  std::vector<std::string> known = op.symbols();
  for (const Parameter &parameter : parameters)
    known.push_back(parameter.name);
  for (const ops::OptionInfo &option : op.options())
    known.push_back(option.name); // the index of its value
  if (tensorsToo) {
    for (const ops::ScalarInfo &scalar : op.scalars())
      known.push_back(scalar.name);
    for (const ops::TensorInfo &tensor : op.tensors())
      known.push_back(tensor.name);
  }
  Result<std::vector<std::string>> used = symbolsOf(text.text);
  if (!used) {
    Error error = used.error();
    error.where = text.where;
    return std::unexpected(error);
  }
  for (const std::string &symbol : *used)
    if (!contains(known, symbol))
      return userError(unknownName("symbol", symbol, known), "known: " + join(known, ", "), text.where);
  return {};
}

Status checkMacroName(const std::string &name, const SourcePlace &where) {
  bool fits = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
              std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (fits)
    return {};
  return userError("'" + name + "' is no name of a macro", "letters, digits and _ only", where);
}

static Result<int64_t> integer(const CaseField &field) {
  int64_t value = 0;
  auto [end, failed] = std::from_chars(field.value.data(), field.value.data() + field.value.size(), value);
  if (failed != std::errc() || end != field.value.data() + field.value.size())
    return userError(field.key + " = '" + field.value + "' is not a whole number", {}, field.where);
  return value;
}

static Status setScalar(ops::Case &c, const CaseField &field) {
  double value = 0;
  auto [end, failed] = std::from_chars(field.value.data(), field.value.data() + field.value.size(), value);
  if (failed != std::errc() || end != field.value.data() + field.value.size() || !std::isfinite(value))
    return userError(field.key + " = '" + field.value + "' is not a number", {}, field.where);
  c.scalars[field.key] = value;
  return {};
}

static Status setSeed(ops::Case &c, const CaseField &field) {
  Result<int64_t> value = integer(field);
  if (!value)
    return std::unexpected(value.error());
  c.seed = static_cast<uint64_t>(*value);
  return {};
}

static Status setDistribution(ops::Case &c, const CaseField &field) {
  if (!contains(distributions(), field.value))
    return userError(unknownName("distribution", field.value, distributions()),
                     "distributions: " + join(distributions(), ", "), field.where);
  c.distribution = field.value;
  return {};
}

static Status setName(ops::Case &c, const CaseField &field) {
  c.name = field.value;
  return {};
}

static const std::map<std::string, Status (*)(ops::Case &, const CaseField &)> &fieldSetters() {
  static const std::map<std::string, Status (*)(ops::Case &, const CaseField &)> setters = {
      {"seed", setSeed}, {"distribution", setDistribution}, {"name", setName}};
  return setters;
}

static Status setField(const ops::Operator &op, ops::Case &c, const CaseField &field,
                       std::map<std::string, SourcePlace> &optionPlaces) {
  bool isSymbol = contains(op.symbols(), field.key); // a declared one may have any name
  if (auto setter = fieldSetters().find(field.key); setter != fieldSetters().end() && !isSymbol)
    return setter->second(c, field);
  if (contains(op.options(), field.key, &ops::OptionInfo::name)) {
    c.options[field.key] = field.value;
    optionPlaces[field.key] = field.where;
    return {};
  }
  auto isReal = [](const ops::ScalarInfo &scalar) { return scalar.kind == ops::ScalarInfo::Kind::Real && scalar.of.empty(); };
  for (const ops::ScalarInfo &scalar : op.scalars())
    if (isReal(scalar) && scalar.name == field.key)
      return setScalar(c, field);
  std::vector<std::string> known = op.symbols();
  if (!contains(known, field.key)) {
    for (const ops::ScalarInfo &scalar : op.scalars())
      if (isReal(scalar))
        known.push_back(scalar.name);
    for (const auto &[name, setter] : fieldSetters())
      known.push_back(name);
    for (const ops::OptionInfo &info : op.options())
      known.push_back(info.name);
    return userError(unknownName("symbol", field.key, known), "a case takes: " + join(known, ", "), field.where);
  }
  Result<int64_t> value = integer(field);
  if (!value)
    return std::unexpected(value.error());
  c.symbols[field.key] = *value;
  return {};
}

Result<ops::Case> makeCase(const ops::Operator &op, const std::vector<CaseField> &fields, const ops::Options &options,
                           SourcePlace where) {
  ops::Case c;
  c.options = options;
  std::map<std::string, SourcePlace> places;
  for (size_t i = 0; i < fields.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      if (fields[j].key == fields[i].key)
        return userError("'" + fields[i].key + "' is given twice in one case", {}, fields[i].where);
    if (Status set = setField(op, c, fields[i], places); !set)
      return std::unexpected(set.error());
  }
  if (Status options = completeOptions(op, c.options, places); !options)
    return std::unexpected(options.error());
  Result<ops::Case> complete = op.completeCase(c);
  if (!complete) {
    Error error = complete.error();
    if (error.where.file.empty())
      error.where = where;
    return std::unexpected(error);
  }
  return complete;
}

/// The case at which the operator's speed is measured: "B=1,H=8,L=1024".
static std::string exampleCase(const ops::Operator &op, const ops::Options &options) {
  const Symbols sizes = op.speedCase(options).symbols;
  std::vector<std::string> parts;
  for (const std::string &symbol : op.symbols())
    if (auto size = sizes.find(symbol); size != sizes.end())
      parts.push_back(symbol + "=" + std::to_string(size->second));
  return join(parts, ",");
}

Result<ops::Case> parseCase(const ops::Operator &op, const std::string &text, const ops::Options &options) {
  std::vector<CaseField> fields;
  SourcePlace where{.file = "--case " + text};
  for (const std::string &part : split(text, ',')) {
    size_t equals = part.find('=');
    if (equals == part.npos)
      return userError("'" + part + "' is not NAME=VALUE", "write --case " + exampleCase(op, options), where);
    fields.push_back({std::string(trim(std::string_view(part).substr(0, equals))),
                      std::string(trim(std::string_view(part).substr(equals + 1))), where});
  }
  return makeCase(op, fields, options, where);
}

} // namespace opsight::port
