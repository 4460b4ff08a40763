// What a port file declares of a kernel without an operator: sizes, buffers, launches in a row, and the reference.
#include "base/text.h"
#include "port/contains.h"
#include "port/port_file.h"
#include "port/port_file_reader.h"

namespace opsight::port {

namespace {

bool isIdentifier(std::string_view name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

struct RoleName {
  const char *name;
  ops::TensorInfo::Role role;
};
constexpr RoleName roles[] = {{"input", ops::TensorInfo::Role::Input}, {"output", ops::TensorInfo::Role::Output},
                              {"inout", ops::TensorInfo::Role::InOut}, {"scratch", ops::TensorInfo::Role::Scratch}};

} // namespace

Status PortFileReader::readSymbols(const toml::table &root, std::vector<ops::DeclaredSymbol> &symbols) const {
  const toml::node *node = root.get("symbols");
  if (!node)
    return {};
  const toml::table *table = node->as_table();
  if (!table)
    return wrongType("symbols", "a section, [symbols]", *node);
  for (const auto &[name, value] : *table) {
    ops::DeclaredSymbol symbol{std::string(name.str()), {}, placeOf(name.source())};
    if (!isIdentifier(symbol.name))
      return userError("'" + symbol.name + "' is no name of a symbol", "letters, digits and _ only", symbol.where);
    if (auto single = value.value_exact<int64_t>())
      symbol.values.push_back(*single);
    else if (const toml::array *array = value.as_array())
      for (const toml::node &element : *array) {
        auto number = element.value_exact<int64_t>();
        if (!number)
          return wrongType(symbol.name, "a whole number or a list of them", element);
        symbol.values.push_back(*number);
      }
    if (symbol.values.empty())
      return wrongType(symbol.name, "a whole number or a list of them", value);
    symbols.push_back(std::move(symbol));
  }
  return {};
}

Status PortFileReader::readFill(const toml::node &node, ops::DeclaredBuffer &buffer) const {
  Result<Placed> written = text("fill", node);
  if (!written)
    return std::unexpected(written.error());
  if (written->text.ends_with(".npy")) {
    buffer.fill = ops::Fill::File;
    buffer.file = path.parent_path() / written->text;
    if (!std::filesystem::is_regular_file(buffer.file))
      return userError("no such file: '" + buffer.file.string() + "'", "a fill is relative to the port file", written->where);
    return {};
  }
  std::vector<std::string> known;
  for (const auto &[name, fill] : ops::fillNames()) {
    known.push_back(name);
    if (name == written->text) {
      buffer.fill = fill;
      return {};
    }
  }
  return userError(unknownName("fill", written->text, known), join(known, ", ") + ", or a .npy file", written->where);
}

Status PortFileReader::readType(const toml::node &node, ops::DeclaredBuffer &buffer) const {
  Result<Placed> written = text("type", node);
  if (!written)
    return std::unexpected(written.error());
  std::vector<std::string> known;
  for (const ops::BufferType &type : ops::bufferTypes()) {
    known.push_back(type.name);
    if (type.name == written->text) {
      buffer.type = type;
      return {};
    }
  }
  if (written->text == "half" || written->text == "__half" || written->text == "__nv_bfloat16")
    return unsupported("a buffer of " + written->text + " (only float and double are judged so far)", {}, written->where);
  return userError(unknownName("type", written->text, known), join(known, ", "), written->where);
}

Status PortFileReader::readRole(const toml::node &node, ops::DeclaredBuffer &buffer) const {
  Result<Placed> written = text("role", node);
  if (!written)
    return std::unexpected(written.error());
  std::vector<std::string> known;
  for (const RoleName &each : roles) {
    known.emplace_back(each.name);
    if (written->text == each.name) {
      buffer.role = each.role;
      return {};
    }
  }
  return userError(unknownName("role", written->text, known), join(known, ", "), written->where);
}

Result<ops::DeclaredBuffer> PortFileReader::readBuffer(const std::string &name, const toml::node &node,
                                                       std::span<const std::string> symbols) const {
  const toml::table *table = node.as_table();
  if (!table)
    return std::unexpected(wrongType(name, "written as { type = \"float\", count = \"n\" }", node).error());
  ops::DeclaredBuffer buffer;
  buffer.name = name, buffer.where = placeOf(node.source());
  if (!isIdentifier(name))
    return userError("'" + name + "' is no name of a buffer", "letters, digits and _ only", buffer.where);
  static const std::vector<std::string> keys = {"type", "count", "fill", "role"};
  for (const auto &[key, value] : *table)
    if (!contains(keys, std::string(key.str())))
      return userError(unknownName("key", key.str(), keys) + " of buffer " + name, "known here: " + join(keys, ", "),
                       placeOf(key.source()));
  for (const char *needed : {"type", "count"})
    if (!table->get(needed))
      return userError("buffer " + name + " has no " + needed, name + " = { type = \"float\", count = \"n\" }", buffer.where);
  if (Status type = readType(*table->get("type"), buffer); !type)
    return std::unexpected(type.error());
  const toml::node &count = *table->get("count");
  buffer.count = count.is_integer() ? std::to_string(*count.value<int64_t>()) : count.value_or(std::string());
  Result<std::vector<std::string>> used = symbolsOf(buffer.count);
  if (!used)
    return userError("count of buffer " + name + ": " + used.error().what, "an expression over [symbols]", placeOf(count.source()));
  for (const std::string &symbol : *used)
    if (!contains(symbols, symbol))
      return userError("count of buffer " + name + ": " + unknownName("symbol", symbol, symbols), {}, placeOf(count.source()));
  if (const toml::node *role = table->get("role"))
    if (Status read = readRole(*role, buffer); !read)
      return std::unexpected(read.error());
  using Role = ops::TensorInfo::Role;
  const toml::node *fill = table->get("fill");
  buffer.fill = buffer.role == Role::Output || buffer.role == Role::Scratch ? ops::Fill::Poison : ops::Fill::Normal;
  if (fill)
    if (Status read = readFill(*fill, buffer); !read)
      return std::unexpected(read.error());
  bool poisoned = buffer.fill == ops::Fill::Poison;
  if (poisoned && (buffer.role == Role::Input || buffer.role == Role::InOut))
    return userError("buffer " + name + " is read, but begins with poison", "give it another fill, or role = \"output\"",
                     placeOf(fill->source()));
  if (buffer.role == Role::Output && !poisoned)
    buffer.role = Role::InOut;
  return buffer;
}

/// Sizes and buffers first: expressions everywhere else are checked against them.
Status PortFileReader::declare(const toml::table &root) {
  std::vector<ops::DeclaredSymbol> symbols;
  if (Status read = readSymbols(root, symbols); !read)
    return read;
  std::vector<std::string> names;
  for (const ops::DeclaredSymbol &symbol : symbols)
    names.push_back(symbol.name);
  const toml::node *node = root.get("buffers");
  const toml::table *table = node ? node->as_table() : nullptr;
  if (!table || table->empty())
    return userError("[buffers] is missing: operator = \"none\" needs what the kernel reads and writes",
                     "see examples/saxpy/verify.toml", node ? placeOf(node->source()) : SourcePlace{path.string(), 1, 1});
  std::vector<ops::DeclaredBuffer> buffers;
  for (const auto &[name, value] : *table) {
    Result<ops::DeclaredBuffer> buffer = readBuffer(std::string(name.str()), value, names);
    if (!buffer)
      return std::unexpected(buffer.error());
    if (contains(names, buffer->name))
      return userError("'" + buffer->name + "' is both a symbol and a buffer", "rename one", buffer->where);
    buffers.push_back(std::move(*buffer));
  }
  Result<std::shared_ptr<ops::Declared>> made = ops::Declared::create(std::move(symbols), std::move(buffers));
  if (!made) {
    Error error = made.error();
    if (error.where.file.empty())
      error.where = placeOf(node->source());
    return std::unexpected(error);
  }
  request.declared = *made;
  request.op = request.declared.get();
  return {};
}

Status PortFileReader::declaredOnly(const std::string &key, const toml::node &node) {
  if (request.declared)
    return {};
  return userError("[" + key + "] goes with operator = \"none\"; " + std::string(request.op->name()) + " has its own",
                   "leave it out, or write operator = \"none\"", placeOf(node.source()));
}

/// [[launch]]: one after another, each with what it does not share with the first.
Status PortFileReader::launches(const toml::array &array) {
  if (!request.declared)
    return userError("several launches go with operator = \"none\" only", "write one [launch]", placeOf(array.source()));
  if (!request.arguments.empty())
    return userError("[arguments] beside several launches", "write arguments = { … } in each [[launch]]",
                     request.arguments.begin()->second.where);
  std::vector<FurtherLaunch> all;
  std::string common = request.kernel;
  for (const toml::node &node : array) {
    request.launch = {};
    request.arguments = {};
    request.kernel = common;
    if (Status read = section("launch", node,
                              {{"kernel", &PortFileReader::kernel}, {"grid", &PortFileReader::grid},
                               {"block", &PortFileReader::block}, {"shared", &PortFileReader::shared},
                               {"arguments", &PortFileReader::arguments}});
        !read)
      return read;
    for (const char *needed : {"grid", "block"})
      if (!node.as_table()->get(needed))
        return userError(std::string("a launch without ") + needed, {}, placeOf(node.source()));
    if (request.kernel.empty())
      return userError("a launch without kernel", "name the __global__ function", placeOf(node.source()));
    all.push_back({request.kernel, request.launch, request.arguments});
  }
  if (all.empty())
    return userError("launch is empty", {}, placeOf(array.source()));
  request.kernel = all.front().kernel, request.launch = all.front().launch, request.arguments = all.front().arguments;
  request.then.assign(all.begin() + 1, all.end());
  return {};
}

Status PortFileReader::declaredReference(const std::string &key, const toml::node &node) {
  if (Status fits = declaredOnly(key, node); !fits)
    return fits;
  request.reference.isSaid = true;
  request.reference.where = placeOf(node.source());
  if (auto word = node.value_exact<std::string>()) {
    if (*word == "original")
      return {};
    return userError(unknownName("reference", *word, std::vector<std::string>{"original"}),
                     "\"original\", or a section [reference] with source and function", placeOf(node.source()));
  }
  if (Status read = section(key, node,
                            {{"source", &PortFileReader::referenceSource}, {"function", &PortFileReader::referenceFunction},
                             {"arguments", &PortFileReader::referenceArguments}});
      !read)
    return read;
  const DeclaredReference &reference = request.reference;
  if (reference.source.empty() != reference.function.empty())
    return userError(reference.source.empty() ? "the original has no function of its own" : "[reference] names no function",
                     "source = \"plain.cpp\" goes with function = \"NAME\", source = \"original\" alone", placeOf(node.source()));
  return {};
}

Status PortFileReader::referenceSource(const std::string &key, const toml::node &node) {
  Result<Placed> written = text(key, node);
  if (!written)
    return std::unexpected(written.error());
  if (written->text == "original")
    return {};
  request.reference.source = path.parent_path() / written->text;
  if (!std::filesystem::is_regular_file(request.reference.source))
    return userError("no such file: '" + request.reference.source.string() + "'",
                     "a plain C++ file relative to the port file, or \"original\"", written->where);
  return {};
}

Status PortFileReader::referenceArguments(const std::string &key, const toml::node &node) {
  std::map<std::string, Placed> kernels = std::exchange(request.arguments, {});
  Status read = arguments(key, node);
  request.reference.arguments = std::exchange(request.arguments, std::move(kernels));
  return read;
}

} // namespace opsight::port
