#include "port/port_file.h"
#include "base/file.h"
#include "base/text.h"
#include "port/contains.h"
#include "port/port_file_reader.h"
#include "port/settle.h"
#include <algorithm>
#include <cctype>
#include <cstring>

namespace opsight::port {
namespace fs = std::filesystem;

Status PortFileReader::keep(Result<Placed> value, std::string &into) {
  if (!value)
    return std::unexpected(value.error());
  into = value->text;
  return {};
}

Status PortFileReader::keep(Result<Placed> value, Placed &into) {
  if (!value)
    return std::unexpected(value.error());
  into = std::move(*value);
  return {};
}

Result<Placed> PortFileReader::text(const std::string &key, const toml::node &node) const {
  auto value = node.value_exact<std::string>();
  if (!value)
    return std::unexpected(wrongType(key, "a string", node).error());
  if (value->empty())
    return std::unexpected(wrongType(key, "a string that is not empty", node).error());
  return Placed{*value, placeOf(node.source())};
}

Result<double> PortFileReader::positive(const std::string &key, const toml::node &node) const {
  auto value = node.value<double>();
  if (!node.is_number() || !value || !(*value > 0) || *value > 1e30)
    return std::unexpected(wrongType(key, "a number above 0", node).error());
  return *value;
}

/// A string that is an expression over the operator's symbols, or a whole number.
Result<Placed> PortFileReader::expression(const std::string &key, const toml::node &node) const {
  if (auto value = node.value_exact<int64_t>())
    return Placed{std::to_string(*value), placeOf(node.source())};
  if (!node.is_string())
    return std::unexpected(wrongType(key, "a whole number or an expression in quotes", node).error());
  Result<Placed> value = text(key, node);
  if (!value)
    return value;
  if (Status known = checked(*value); !known)
    return std::unexpected(known.error());
  return value;
}

Result<std::vector<Placed>> PortFileReader::expressions(const std::string &key, const toml::node &node) const {
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

Status PortFileReader::checkKeys(const toml::table &table, const std::string &section,
                                 const std::vector<std::string> &known) const {
  for (const auto &[name, node] : table)
    if (!contains(known, std::string(name.str())))
      return userError(unknownName("key", name.str(), known) + (section.empty() ? "" : " in [" + section + "]"),
                       "known here: " + join(known, ", "), placeOf(name.source()));
  return {};
}

std::vector<std::string> PortFileReader::keysOf(const std::vector<Entry> &entries) {
  std::vector<std::string> keys;
  for (const Entry &entry : entries)
    keys.push_back(entry.key);
  return keys;
}

Status PortFileReader::walk(const toml::table &table, const std::string &section, const std::vector<Entry> &entries) {
  if (Status known = checkKeys(table, section, keysOf(entries)); !known)
    return known;
  for (const auto &[name, node] : table) {
    auto entry = std::ranges::find(entries, std::string(name.str()), &Entry::key);
    if (Status read = (this->*entry->handler)(entry->key, node); !read)
      return read;
  }
  return {};
}

Status PortFileReader::section(const std::string &key, const toml::node &node, const std::vector<Entry> &entries) {
  const toml::table *table = node.as_table();
  return table ? walk(*table, key, entries) : wrongType(key, ("a section, [" + key + "]").c_str(), node);
}

Status PortFileReader::source(const std::string &key, const toml::node &node) {
  std::string name;
  if (Status kept = keep(text(key, node), name); !kept)
    return kept;
  request.source = path.parent_path() / name;
  if (!fs::is_regular_file(request.source))
    return userError("no such file: '" + request.source.string() + "'", "source is relative to the port file",
                     placeOf(node.source()));
  return {};
}

Status PortFileReader::card(const std::string &key, const toml::node &node) {
  if (Status kept = keep(text(key, node), request.card); !kept)
    return kept;
  Result<std::vector<std::string>> known = cardNames();
  if (!known)
    return std::unexpected(known.error());
  if (contains(*known, request.card))
    return {};
  return userError(unknownName("card", request.card, *known), "see: opsight cards", placeOf(node.source()));
}

Status PortFileReader::launch(const std::string &key, const toml::node &node) {
  if (const toml::array *array = node.as_array())
    return array->is_homogeneous<toml::table>() ? launches(*array) : wrongType(key, "a section, [launch] or [[launch]]", node);
  return section(key, node, {{"grid", &PortFileReader::grid}, {"block", &PortFileReader::block}, {"shared", &PortFileReader::shared}});
}

Status PortFileReader::grid(const std::string &key, const toml::node &node) {
  Result<std::vector<Placed>> values = expressions(key, node);
  if (!values)
    return std::unexpected(values.error());
  request.launch.grid = *values;
  return {};
}

Status PortFileReader::block(const std::string &key, const toml::node &node) {
  Result<std::vector<Placed>> values = expressions(key, node);
  if (!values)
    return std::unexpected(values.error());
  request.launch.block = *values;
  return {};
}

Status PortFileReader::shared(const std::string &key, const toml::node &node) {
  return keep(expression(key, node), request.launch.shared);
}

/// First of all, since everything else is checked against it.
Status PortFileReader::readOperator(const toml::table &root) {
  const toml::node *node = root.get("operator");
  if (!node)
    return userError("'operator' is missing", "add, for instance, operator = \"scaled_dot_product_attention\"",
                     {path.string(), 1, 1});
  Result<Placed> name = text("operator", *node);
  if (!name)
    return std::unexpected(name.error());
  if (name->text == "none")
    return declare(root);
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
Status PortFileReader::finish(const toml::table &root) {
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

Result<Request> PortFileReader::read(const toml::table &root) {
  request.file = path;
  // Cases take the file's options as their defaults, so they are read last, whatever the order in the file; parameters first,
  // since every expression may name them.
  static const std::vector<Entry> entries = {
      {"operator", &PortFileReader::nothing}, {"source", &PortFileReader::source},       {"kernel", &PortFileReader::kernel},
      {"card", &PortFileReader::card},        {"launch", &PortFileReader::launch},       {"arguments", &PortFileReader::arguments},
      {"defines", &PortFileReader::defines},  {"options", &PortFileReader::options},     {"limits", &PortFileReader::limits},
      {"parameters", &PortFileReader::nothing}, {"recipe", &PortFileReader::recipe},
      {"accept", &PortFileReader::accept},    {"ask", &PortFileReader::ask},             {"hints", &PortFileReader::hints},
      {"case", &PortFileReader::nothing},     {"symbols", &PortFileReader::declaredOnly}, {"buffers", &PortFileReader::declaredOnly},
      {"reference", &PortFileReader::declaredReference}};
  // A slip in a section's name is told before what is missing for want of that section.
  if (Status known = checkKeys(root, "", keysOf(entries)); !known)
    return std::unexpected(known.error());
  if (Status found = readOperator(root); !found)
    return std::unexpected(found.error());
  if (Status read = readParameters(root); !read)
    return std::unexpected(read.error());
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

/// The parser limits how deep values nest but not how long a dotted key is, and a table within a table for each of
/// its names overflows the stack. The end of the first key of more than `most` names, or npos.
static size_t endOfLongKey(std::string_view text, size_t most) {
  size_t names = 0;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote) {
      if (c == '\\' && quote == '"')
        ++i;
      else if ((c == quote && c != '#') || c == '\n')
        quote = 0;
    } else if (c == '"' || c == '\'' || c == '#') {
      quote = c; // a comment ends with its line, as an unclosed quote does
    } else if (c == '.') {
      if (++names > most)
        return i;
    } else if (!std::isalnum(static_cast<unsigned char>(c)) && !(c && std::strchr("_- \t", c))) {
      names = 0;
    }
  }
  return std::string_view::npos;
}

Result<Request> readPortFile(const fs::path &path) {
  Result<std::string> bytes = readFile(path, 1u << 20);
  if (!bytes)
    return std::unexpected(bytes.error());
  if (size_t at = endOfLongKey(*bytes, 32); at != std::string_view::npos)
    return userError("not a port file: a key of more than 32 names", "a port file is TOML; see examples/sdpa/port.toml",
                     {path.string(), 1u + static_cast<unsigned>(std::count(bytes->begin(), bytes->begin() + static_cast<ptrdiff_t>(at), '\n')), 1});
  try {
    toml::table root = toml::parse(*bytes, path.string());
    return PortFileReader(path).read(root);
  } catch (const toml::parse_error &error) {
    const toml::source_position &at = error.source().begin;
    return userError("not a port file: " + std::string(error.description()),
                     "a port file is TOML; see examples/sdpa/port.toml", {path.string(), at.line, at.column});
  }
}

} // namespace opsight::port
