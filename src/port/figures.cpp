#include "port/figures.h"
#include "base/file.h"
#include "base/text.h"
#include "port/port_file.h"
#include "port/toml_text.h"
#include <algorithm>
#include <ctime>
#include <sstream>
#include <toml++/toml.h>

namespace opsight::port {

namespace {

constexpr std::string_view schema = "opsight.figures/1";

/// "B=1 D=64 H=8, causal=top-left": what two figures may not share. Options at their default go without saying.
std::string shapeText(const ops::Case &c) {
  std::string text;
  for (const auto &[symbol, value] : c.symbols)
    text += (text.empty() ? "" : " ") + symbol + "=" + std::to_string(value);
  for (const auto &[option, value] : c.options)
    if (value != "none")
      text += ", " + option + "=" + value;
  return text;
}

bool sameProblem(const ops::Case &a, const ops::Case &b) { return a.symbols == b.symbols && a.options == b.options; }

/// One figures file on its way in.
class FiguresReader {
public:
  FiguresReader(const ops::Operator &op, std::string file) : op(op), file(std::move(file)) {}
  Result<std::unique_ptr<RecordedReference>> read(const toml::table &root);

private:
  SourcePlace placeOf(const toml::node &node) const { return {file, node.source().begin.line, node.source().begin.column}; }
  Status readHead(const toml::table &root);
  Status readFigure(const toml::table &table);
  Result<double> secondsOf(const toml::table &table, const ops::Case &c) const;

  const ops::Operator &op;
  std::string file;
  FiguresHead head;
  std::vector<RecordedReference::Figure> figures;
};

Status FiguresReader::readHead(const toml::table &root) {
  std::string written;
  std::map<std::string, std::string *> texts = {{"schema", &written},        {"operator", &head.operatorName},
                                                {"kernel", &head.kernel},    {"card", &head.card},
                                                {"device", &head.device},    {"source", &head.source}};
  std::vector<std::string> known = {"figure"};
  for (const auto &[key, into] : texts)
    known.push_back(key);
  for (const auto &[name, node] : root) {
    std::string key(name.str());
    if (key == "figure")
      continue;
    auto into = texts.find(key);
    if (into == texts.end())
      return userError(unknownName("key", key, known), "known here: " + join(known, ", "), {file, name.source().begin.line, 1});
    auto value = node.value_exact<std::string>();
    if (!value)
      return userError("'" + key + "' must be a string", {}, placeOf(node));
    *into->second = *value;
  }
  if (written != schema)
    return userError("not a file of figures: schema is '" + written + "'", "it must be schema = \"" + std::string(schema) + "\"",
                     {file, 1, 1});
  for (const char *needed : {"operator", "card", "source"})
    if (texts[needed]->empty())
      return userError("'" + std::string(needed) + "' is missing", "a figure is worth what is known about where it comes from",
                       {file, 1, 1});
  if (head.operatorName != op.name())
    return userError("these are figures of " + head.operatorName + ", not of " + std::string(op.name()), {}, {file, 1, 1});
  return {};
}

Result<double> FiguresReader::secondsOf(const toml::table &table, const ops::Case &c) const {
  const toml::node *seconds = table.get("seconds"), *gflops = table.get("gflops");
  if (!seconds == !gflops)
    return userError("a [[figure]] has either seconds or gflops", {}, placeOf(table));
  const toml::node &node = seconds ? *seconds : *gflops;
  auto value = node.value<double>();
  if (!node.is_number() || !value || !(*value > 0) || *value > 1e15)
    return userError(std::string(seconds ? "seconds" : "gflops") + " must be a number above 0", {}, placeOf(node));
  return seconds ? *value : op.work(c).flops / (*value * 1e9);
}

Status FiguresReader::readFigure(const toml::table &table) {
  std::vector<CaseField> fields;
  for (const auto &[name, node] : table) {
    if (name.str() == "seconds" || name.str() == "gflops")
      continue;
    CaseField field{std::string(name.str()), {}, placeOf(node)};
    if (auto number = node.value_exact<int64_t>())
      field.value = std::to_string(*number);
    else if (auto text = node.value_exact<std::string>())
      field.value = *text;
    else
      return userError("'" + field.key + "' must be a whole number or a string", {}, field.where);
    fields.push_back(std::move(field));
  }
  Result<ops::Case> made = makeCase(op, fields, {}, placeOf(table));
  if (!made)
    return std::unexpected(made.error());
  Result<double> seconds = secondsOf(table, *made);
  if (!seconds)
    return std::unexpected(seconds.error());
  for (const RecordedReference::Figure &other : figures)
    if (sameProblem(other.c, *made))
      return userError("two figures for " + shapeText(*made), "keep one of them", placeOf(table));
  figures.push_back({std::move(*made), *seconds});
  return {};
}

Result<std::unique_ptr<RecordedReference>> FiguresReader::read(const toml::table &root) {
  if (Status done = readHead(root); !done)
    return std::unexpected(done.error());
  const toml::node *node = root.get("figure");
  const toml::array *array = node ? node->as_array() : nullptr;
  if (!array || array->empty())
    return userError("there is no [[figure]]", {}, {file, 1, 1});
  for (const toml::node &element : *array) {
    const toml::table *table = element.as_table();
    if (!table)
      return userError("'figure' must be written as [[figure]]", {}, placeOf(element));
    if (Status done = readFigure(*table); !done)
      return std::unexpected(done.error());
  }
  return std::make_unique<RecordedReference>(std::move(head), std::move(figures), file);
}

} // namespace

RecordedReference::RecordedReference(FiguresHead head, std::vector<Figure> figures, std::string file)
    : head(std::move(head)), figures(std::move(figures)), file(std::move(file)) {}

std::string RecordedReference::name() const {
  std::string device = head.device.empty() ? "" : " (" + head.device + ")";
  return (head.kernel.empty() ? head.operatorName : head.kernel) + " on " + head.card + device + ", recorded in " +
         std::filesystem::path(file).filename().string();
}

Result<std::variant<judge::Build, judge::OutsideLimits>> RecordedReference::prepare(const ops::Case &c) {
  return judge::OutsideLimits{"no figure is recorded for " + shapeText(c)};
}

std::optional<double> RecordedReference::recordedSeconds(const ops::Case &c) const {
  for (const Figure &figure : figures)
    if (sameProblem(figure.c, c))
      return figure.seconds;
  return std::nullopt;
}

Status RecordedReference::covers(std::span<const ops::Case> cases) const {
  std::vector<std::string> shapes;
  for (const Figure &figure : figures)
    shapes.push_back(shapeText(figure.c));
  for (const ops::Case &c : cases)
    if (!recordedSeconds(c))
      return userError("no figure is recorded for " + shapeText(c), "recorded: " + join(shapes, "; ") +
                       ". Give one of these with --case, or record the missing one on that card", {file});
  return {};
}

Result<std::unique_ptr<RecordedReference>> readFigures(const ops::Operator &op, const std::filesystem::path &file,
                                                       SourcePlace where) {
  Result<std::string> bytes = readFile(file, 1u << 20);
  if (!bytes) {
    Error error = bytes.error();
    if (error.where.file.empty())
      error.where = where;
    return std::unexpected(error);
  }
  try {
    return FiguresReader(op, file.string()).read(toml::parse(*bytes, file.string()));
  } catch (const toml::parse_error &error) {
    const toml::source_position &at = error.source().begin;
    return userError("not a file of figures: " + std::string(error.description()), "see docs/figures.md",
                     {file.string(), at.line, at.column});
  }
}

std::string figuresText(const FiguresHead &head, const judge::Speed &speed) {
  std::ostringstream out;
  out.precision(9);
  out << "# Times measured by Opsight; as a reference elsewhere: opsight port FILE --reference THIS\n";
  for (const auto &[key, value] : std::initializer_list<std::pair<const char *, std::string>>{
           {"schema", std::string(schema)}, {"operator", head.operatorName}, {"kernel", head.kernel},
           {"card", head.card}, {"device", head.device}, {"source", head.source}})
    out << key << " = " << tomlQuoted(value) << "\n";
  std::vector<const ops::Case *> written;
  for (const judge::SpeedCase &each : speed.cases) {
    // Two distributions of one shape take the same time; the reader allows one figure a shape.
    if (std::ranges::any_of(written, [&](const ops::Case *other) { return sameProblem(*other, each.c); }))
      continue;
    written.push_back(&each.c);
    out << "\n[[figure]]\n";
    for (const auto &[symbol, value] : each.c.symbols)
      out << symbol << " = " << value << "\n";
    for (const auto &[option, value] : each.c.options)
      out << option << " = " << tomlQuoted(value) << "\n";
    out << "seconds = " << std::scientific << each.candidateSeconds << std::defaultfloat << " # median of " << each.pairs
        << " runs; " << each.gflops << " GFLOP/s\n";
  }
  return out.str();
}

std::string figuresOf(const judge::Verdict &verdict, const std::string &kernel, const std::string &card,
                      const std::string &run) {
  if (!verdict.accuracy.pass || !verdict.speed || verdict.speed->cases.empty())
    return {};
  std::time_t now = std::time(nullptr);
  char day[16] = "";
  std::strftime(day, sizeof day, "%Y-%m-%d", std::gmtime(&now));
  return figuresText({verdict.operatorName, kernel, card, verdict.device.device, run + ", " + day}, *verdict.speed);
}

} // namespace opsight::port
