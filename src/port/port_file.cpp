#include "port/port_file.h"
#include "base/file.h"
#include "base/text.h"
#include "port/contains.h"
#include "port/hint.h"
#include "port/settle.h"
#include <sstream>
#include <toml++/toml.h>

namespace opsight::port {
namespace fs = std::filesystem;

namespace {

/// `value` so that reading it again gives the same bits, always with a point or an exponent.
std::string exactText(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  std::string text = out.str();
  return text.find_first_of(".en") == text.npos ? text + ".0" : text;
}

/// Walks one parsed file; each section has its table of keys and what reads them.
class Reader {
public:
  Reader(fs::path path) : path(std::move(path)) {}
  Result<Request> read(const toml::table &root);

private:
  using Handler = Status (Reader::*)(const std::string &key, const toml::node &node);
  struct Entry {
    std::string key;
    Handler handler;
  };

  SourcePlace placeOf(const toml::source_region &source) const {
    return {path.string(), source.begin.line, source.begin.column};
  }
  Status walk(const toml::table &table, const std::string &section, const std::vector<Entry> &entries);
  Status section(const std::string &key, const toml::node &node, const std::vector<Entry> &entries);
  Result<Placed> text(const std::string &key, const toml::node &node) const;
  Result<double> positive(const std::string &key, const toml::node &node) const;
  Result<Placed> expression(const std::string &key, const toml::node &node) const;
  Result<std::vector<Placed>> expressions(const std::string &key, const toml::node &node) const;
  Status keep(Result<Placed> value, std::string &into);
  Status wrongType(const std::string &key, const char *expected, const toml::node &node) const {
    return userError("'" + key + "' must be " + expected, {}, placeOf(node.source()));
  }

  Status readOperator(const toml::table &root);
  Status finish(const toml::table &root);
  Status nothing(const std::string &, const toml::node &) { return {}; }
  Status source(const std::string &key, const toml::node &node);
  Status kernel(const std::string &key, const toml::node &node) { return keep(text(key, node), request.kernel); }
  Status card(const std::string &key, const toml::node &node);
  Status launch(const std::string &key, const toml::node &node);
  Status grid(const std::string &key, const toml::node &node);
  Status block(const std::string &key, const toml::node &node);
  Status shared(const std::string &key, const toml::node &node);
  Status arguments(const std::string &key, const toml::node &node);
  Status defines(const std::string &key, const toml::node &node);
  Status options(const std::string &key, const toml::node &node);
  Status limits(const std::string &key, const toml::node &node);
  Status accept(const std::string &key, const toml::node &node);
  Status maxError(const std::string &key, const toml::node &node);
  Status minSpeed(const std::string &key, const toml::node &node);
  Status reference(const std::string &key, const toml::node &node);
  Status ask(const std::string &key, const toml::node &node);
  Status hints(const std::string &key, const toml::node &node);
  Status cases(const std::string &key, const toml::node &node);
  Status oneCase(const toml::table &table);

  fs::path path;
  Request request;
  std::map<std::string, SourcePlace> optionPlaces;
};

Status Reader::keep(Result<Placed> value, std::string &into) {
  if (!value)
    return std::unexpected(value.error());
  into = value->text;
  return {};
}

Result<Placed> Reader::text(const std::string &key, const toml::node &node) const {
  auto value = node.value_exact<std::string>();
  if (!value)
    return std::unexpected(wrongType(key, "a string", node).error());
  if (value->empty())
    return std::unexpected(wrongType(key, "a string that is not empty", node).error());
  return Placed{*value, placeOf(node.source())};
}

Result<double> Reader::positive(const std::string &key, const toml::node &node) const {
  auto value = node.value<double>();
  if (!node.is_number() || !value || !(*value > 0) || *value > 1e30)
    return std::unexpected(wrongType(key, "a number above 0", node).error());
  return *value;
}

/// A string that is an expression over the operator's symbols, or a whole number.
Result<Placed> Reader::expression(const std::string &key, const toml::node &node) const {
  if (auto value = node.value_exact<int64_t>())
    return Placed{std::to_string(*value), placeOf(node.source())};
  if (!node.is_string())
    return std::unexpected(wrongType(key, "a whole number or an expression in quotes", node).error());
  Result<Placed> value = text(key, node);
  if (!value)
    return value;
  if (Status checked = checkExpression(*request.op, *value); !checked)
    return std::unexpected(checked.error());
  return value;
}

Result<std::vector<Placed>> Reader::expressions(const std::string &key, const toml::node &node) const {
  std::vector<Placed> values;
  const toml::array *array = node.as_array();
  if (!array) {
    Result<Placed> single = expression(key, node);
    if (!single)
      return std::unexpected(single.error());
    return std::vector{*single};
  }
  if (array->empty() || array->size() > 3)
    return std::unexpected(wrongType(key, "a list of one to three expressions", node).error());
  for (const toml::node &element : *array) {
    Result<Placed> value = expression(key, element);
    if (!value)
      return std::unexpected(value.error());
    values.push_back(*value);
  }
  return values;
}

Status Reader::walk(const toml::table &table, const std::string &section, const std::vector<Entry> &entries) {
  std::vector<std::string> known;
  for (const Entry &entry : entries)
    known.push_back(entry.key);
  for (const auto &[name, node] : table) {
    auto entry = std::ranges::find(entries, std::string(name.str()), &Entry::key);
    if (entry == entries.end())
      return userError(unknownName("key", name.str(), known) + (section.empty() ? "" : " in [" + section + "]"),
                       "known here: " + join(known, ", "), placeOf(name.source()));
    if (Status read = (this->*entry->handler)(entry->key, node); !read)
      return read;
  }
  return {};
}

Status Reader::section(const std::string &key, const toml::node &node, const std::vector<Entry> &entries) {
  const toml::table *table = node.as_table();
  return table ? walk(*table, key, entries) : wrongType(key, ("a section, [" + key + "]").c_str(), node);
}

Status Reader::source(const std::string &key, const toml::node &node) {
  std::string name;
  if (Status kept = keep(text(key, node), name); !kept)
    return kept;
  request.source = path.parent_path() / name;
  if (!fs::is_regular_file(request.source))
    return userError("no such file: '" + request.source.string() + "'", "source is relative to the port file",
                     placeOf(node.source()));
  return {};
}

Status Reader::card(const std::string &key, const toml::node &node) {
  if (Status kept = keep(text(key, node), request.card); !kept)
    return kept;
  Result<std::vector<std::string>> known = cardNames();
  if (!known)
    return std::unexpected(known.error());
  if (contains(*known, request.card))
    return {};
  return userError(unknownName("card", request.card, *known), "see: opsight cards", placeOf(node.source()));
}

Status Reader::launch(const std::string &key, const toml::node &node) {
  return section(key, node, {{"grid", &Reader::grid}, {"block", &Reader::block}, {"shared", &Reader::shared}});
}

Status Reader::grid(const std::string &key, const toml::node &node) {
  Result<std::vector<Placed>> values = expressions(key, node);
  if (!values)
    return std::unexpected(values.error());
  request.launch.grid = *values;
  return {};
}

Status Reader::block(const std::string &key, const toml::node &node) {
  Result<std::vector<Placed>> values = expressions(key, node);
  if (!values)
    return std::unexpected(values.error());
  request.launch.block = *values;
  return {};
}

Status Reader::shared(const std::string &key, const toml::node &node) {
  Result<Placed> value = expression(key, node);
  if (!value)
    return std::unexpected(value.error());
  request.launch.shared = *value;
  return {};
}

Status Reader::arguments(const std::string &key, const toml::node &node) {
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
      if (Status checked = checkExpression(*request.op, placed, true); !checked)
        return checked;
    }
    request.arguments[std::string(name.str())] = placed;
  }
  return {};
}

Status Reader::defines(const std::string &key, const toml::node &node) {
  const toml::table *table = node.as_table();
  if (!table)
    return wrongType(key, "a section, [defines]", node);
  for (const auto &[name, value] : *table) {
    Define define{{{}, placeOf(value.source())}, false};
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

Status Reader::options(const std::string &key, const toml::node &node) {
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

Status Reader::limits(const std::string &key, const toml::node &node) {
  const toml::table *table = node.as_table();
  if (!table)
    return wrongType(key, "a section, [limits]", node);
  for (const auto &[name, value] : *table) {
    LimitRule rule{{std::string(name.str()), placeOf(name.source())}, {}};
    if (Status checked = checkExpression(*request.op, rule.expression); !checked)
      return checked;
    if (auto single = value.value_exact<int64_t>())
      rule.values.push_back(*single);
    else if (const toml::array *array = value.as_array())
      for (const toml::node &element : *array) {
        auto number = element.value_exact<int64_t>();
        if (!number)
          return wrongType(rule.expression.text, "a whole number or a list of them", element);
        rule.values.push_back(*number);
      }
    if (rule.values.empty())
      return wrongType(rule.expression.text, "a whole number or a list of them", value);
    request.limits.push_back(std::move(rule));
  }
  return {};
}

Status Reader::accept(const std::string &key, const toml::node &node) {
  return section(key, node,
                 {{"max_error", &Reader::maxError}, {"min_speed", &Reader::minSpeed}, {"reference", &Reader::reference}});
}

Status Reader::maxError(const std::string &key, const toml::node &node) {
  Result<double> value = positive(key, node);
  if (!value)
    return std::unexpected(value.error());
  request.accept.maxError = *value;
  return {};
}

Status Reader::minSpeed(const std::string &key, const toml::node &node) {
  Result<double> value = positive(key, node);
  if (!value)
    return std::unexpected(value.error());
  request.accept.minSpeed = *value;
  return {};
}

Status Reader::reference(const std::string &key, const toml::node &node) {
  Result<Placed> value = text(key, node);
  if (!value)
    return std::unexpected(value.error());
  if (value->text.ends_with(".toml"))
    value->text = (path.parent_path() / value->text).string();
  request.accept.reference = *value;
  return {};
}

Status Reader::ask(const std::string &key, const toml::node &node) {
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

Status Reader::hints(const std::string &key, const toml::node &node) {
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

Status Reader::oneCase(const toml::table &table) {
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

Status Reader::cases(const std::string &key, const toml::node &node) {
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

/// First of all, since everything else is checked against it.
Status Reader::readOperator(const toml::table &root) {
  const toml::node *node = root.get("operator");
  if (!node)
    return userError("'operator' is missing", "add, for instance, operator = \"scaled_dot_product_attention\"",
                     {path.string(), 1, 1});
  Result<Placed> name = text("operator", *node);
  if (!name)
    return std::unexpected(name.error());
  if (name->text == "none")
    return unsupported("operator = \"none\" (a kernel without an operator) is not supported yet",
                       "name an operator; see: opsight ops", name->where);
  Result<const ops::Operator *> op = ops::findOperator(name->text);
  if (!op) {
    Error error = op.error();
    error.where = name->where;
    return std::unexpected(error);
  }
  request.op = *op;
  return {};
}

/// A file cut off in the middle may still be good TOML; it then lacks what every port needs.
Status Reader::finish(const toml::table &root) {
  auto missing = [&](const std::string &what, const std::string &example) {
    return userError("'" + what + "' is missing; is the file complete?", "add, for instance, " + example,
                     {path.string(), root.source().end.line, 1});
  };
  if (request.source.empty())
    return missing("source", "source = \"kernel.cu\"");
  if (request.launch.grid.empty())
    return missing("[launch] grid", "grid = [\"ceil_div(L, 64)\", \"H\", \"B\"]");
  if (request.launch.block.empty())
    return missing("[launch] block", "block = [256, 1, 1]");
  return {};
}

Result<Request> Reader::read(const toml::table &root) {
  request.file = path;
  if (Status found = readOperator(root); !found)
    return std::unexpected(found.error());
  // Cases take the file's options as their defaults, so they are read last, whatever the order in the file.
  static const std::vector<Entry> entries = {
      {"operator", &Reader::nothing}, {"source", &Reader::source},       {"kernel", &Reader::kernel},
      {"card", &Reader::card},        {"launch", &Reader::launch},       {"arguments", &Reader::arguments},
      {"defines", &Reader::defines},  {"options", &Reader::options},     {"limits", &Reader::limits},
      {"accept", &Reader::accept},    {"ask", &Reader::ask},             {"hints", &Reader::hints},
      {"case", &Reader::nothing}};
  if (Status walked = walk(root, "", entries); !walked)
    return std::unexpected(walked.error());
  if (Status complete = completeOptions(*request.op, request.options, optionPlaces); !complete)
    return std::unexpected(complete.error());
  if (const toml::node *node = root.get("case"))
    if (Status read = cases("case", *node); !read)
      return std::unexpected(read.error());
  if (Status complete = finish(root); !complete)
    return std::unexpected(complete.error());
  return request;
}

} // namespace

Result<Request> readPortFile(const fs::path &path) {
  Result<std::string> bytes = readFile(path, 1u << 20);
  if (!bytes)
    return std::unexpected(bytes.error());
  try {
    toml::table root = toml::parse(*bytes, path.string());
    return Reader(path).read(root);
  } catch (const toml::parse_error &error) {
    const toml::source_position &at = error.source().begin;
    return userError("not a port file: " + std::string(error.description()),
                     "a port file is TOML; see examples/sdpa/port.toml", {path.string(), at.line, at.column});
  }
}

} // namespace opsight::port
