// What the sections of a port file hold: arguments, macros, options, limits, bars, asks, hints and cases.
#include "port/hint.h"
#include "port/port_file.h"
#include "port/port_file_reader.h"
#include <sstream>

namespace opsight::port {

/// `value` so that reading it again gives the same bits, always with a point or an exponent.
static std::string exactText(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  std::string text = out.str();
  return text.find_first_of(".en") == text.npos ? text + ".0" : text;
}

Status PortFileReader::arguments(const std::string &key, const toml::node &node) {
  const toml::table *table = node.as_table();
  if (!table)
    return wrongType(key, "a section, [arguments]", node);
  for (const auto &[name, value] : *table) {
    Placed placed{{}, placeOf(value.source())};
    if (auto number = value.value_exact<int64_t>()) {
      placed.text = std::to_string(*number);
    } else if (auto real = value.value_exact<double>()) {
      placed.text = exactText(*real);
    } else {
      Result<Placed> written = text(std::string(name.str()), value);
      if (!written)
        return std::unexpected(written.error());
      placed = *written;
      if (Status known = checked(placed, true); !known)
        return known;
    }
    request.arguments[std::string(name.str())] = placed;
  }
  return {};
}

Status PortFileReader::defines(const std::string &key, const toml::node &node) {
  const toml::table *table = node.as_table();
  if (!table)
    return wrongType(key, "a section, [defines]", node);
  for (const auto &[name, value] : *table) {
    Define define{{{}, placeOf(value.source())}, false};
    if (Status checked = checkMacroName(std::string(name.str()), define.value.where); !checked)
      return checked;
    if (value.is_string()) {
      Result<Placed> written = expression(std::string(name.str()), value);
      if (!written)
        return std::unexpected(written.error());
      define = {*written, true};
    } else if (auto number = value.value_exact<int64_t>()) {
      define.value.text = std::to_string(*number);
    } else if (auto truth = value.value_exact<bool>()) {
      define.value.text = *truth ? "1" : "0";
    } else if (auto real = value.value_exact<double>()) {
      define.value.text = exactText(*real);
    } else {
      return wrongType(std::string(name.str()), "a number, true, false or an expression in quotes", value);
    }
    request.defines[std::string(name.str())] = define;
  }
  return {};
}

Status PortFileReader::options(const std::string &key, const toml::node &node) {
  const toml::table *table = node.as_table();
  if (!table)
    return wrongType(key, "a section, [options]", node);
  for (const auto &[name, value] : *table) {
    std::string option(name.str());
    optionPlaces[option] = placeOf(name.source());
    if (Status kept = keep(text(option, value), request.options[option]); !kept)
      return kept;
  }
  return completeOptions(*request.op, request.options, optionPlaces);
}

Status PortFileReader::limits(const std::string &key, const toml::node &node) {
  const toml::table *table = node.as_table();
  if (!table)
    return wrongType(key, "a section, [limits]", node);
  for (const auto &[name, value] : *table) {
    LimitRule rule{{std::string(name.str()), placeOf(name.source())}, {}};
    if (Status known = checked(rule.expression); !known)
      return known;
    Result<std::vector<int64_t>> values = wholeNumbers(rule.expression.text, value);
    if (!values)
      return std::unexpected(values.error());
    rule.values = std::move(*values);
    request.limits.push_back(std::move(rule));
  }
  return {};
}

Status PortFileReader::accept(const std::string &key, const toml::node &node) {
  return section(key, node,
                 {{"max_error", &PortFileReader::maxError}, {"min_speed", &PortFileReader::minSpeed}, {"reference", &PortFileReader::reference}});
}

Status PortFileReader::maxError(const std::string &key, const toml::node &node) {
  Result<double> value = positive(key, node);
  if (!value)
    return std::unexpected(value.error());
  request.accept.maxError = *value;
  return {};
}

Status PortFileReader::minSpeed(const std::string &key, const toml::node &node) {
  Result<double> value = positive(key, node);
  if (!value)
    return std::unexpected(value.error());
  request.accept.minSpeed = *value;
  return {};
}

Status PortFileReader::reference(const std::string &key, const toml::node &node) {
  Result<Placed> value = text(key, node);
  if (!value)
    return std::unexpected(value.error());
  if (value->text.ends_with(".toml"))
    value->text = (path.parent_path() / value->text).string();
  request.accept.reference = *value;
  return {};
}

Status PortFileReader::ask(const std::string &key, const toml::node &node) {
  if (node.is_string()) {
    Result<Placed> value = text(key, node);
    if (!value)
      return std::unexpected(value.error());
    request.asks.push_back(*value);
    return {};
  }
  const toml::array *array = node.as_array();
  if (!array)
    return wrongType(key, "a list of sentences", node);
  for (const toml::node &element : *array) {
    Result<Placed> value = text(key, element);
    if (!value)
      return std::unexpected(value.error());
    request.asks.push_back(*value);
  }
  return {};
}

Status PortFileReader::hints(const std::string &key, const toml::node &node) {
  const toml::table *table = node.as_table();
  if (!table)
    return wrongType(key, "a section, [hints]", node);
  for (const auto &[name, value] : *table) {
    std::string written(name.str());
    SourcePlace where = placeOf(name.source());
    Result<Placed> setting = value.is_integer() ? Placed{std::to_string(*value.value<int64_t>()), where} : text(written, value);
    if (!setting)
      return std::unexpected(setting.error());
    Result<Hint> hint = parseHint(written + "=" + setting->text, where);
    if (!hint)
      return std::unexpected(hint.error());
    if (Status added = addHint(request.hints, *hint); !added)
      return added;
  }
  return {};
}

Status PortFileReader::oneCase(const toml::table &table) {
  std::vector<CaseField> fields;
  for (const auto &[name, value] : table) {
    CaseField field{std::string(name.str()), {}, placeOf(name.source())};
    if (auto number = value.value_exact<int64_t>())
      field.value = std::to_string(*number);
    else if (auto real = value.value_exact<double>())
      field.value = exactText(*real);
    else if (auto written = value.value_exact<std::string>())
      field.value = *written;
    else
      return wrongType(field.key, "a number or a string", value);
    fields.push_back(std::move(field));
  }
  Result<ops::Case> made = makeCase(*request.op, fields, request.options, placeOf(table.source()));
  if (!made)
    return std::unexpected(made.error());
  request.cases.push_back(std::move(*made));
  return {};
}

Status PortFileReader::cases(const std::string &key, const toml::node &node) {
  const toml::array *array = node.as_array();
  if (!array)
    return wrongType(key, "written as [[case]]", node);
  for (const toml::node &element : *array) {
    const toml::table *table = element.as_table();
    if (!table)
      return wrongType(key, "written as [[case]]", element);
    if (Status read = oneCase(*table); !read)
      return read;
  }
  return {};
}

} // namespace opsight::port
