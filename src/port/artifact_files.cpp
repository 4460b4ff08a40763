#include "port/artifact_files.h"
#include "base/file.h"
#include "lower/lower.h"
#include "port/declared_text.h"
#include "port/source_variants.h"
#include "port/toml_text.h"
#include <llvm/Support/raw_ostream.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace opsight::port {

using Json = nlohmann::ordered_json;

namespace {

Json texts(const std::vector<Placed> &placed) {
  Json list = Json::array();
  for (const Placed &text : placed)
    list.push_back(text.text);
  return list;
}

Json argumentsJson(const judge::Step &step) {
  Json arguments = Json::object();
  for (size_t i = 0; i < step.arguments.size(); ++i)
    arguments[step.parameters[i].name] = step.arguments[i].text;
  return arguments;
}

Json launchJson(const Launch &launch) {
  return {{"grid", texts(launch.grid)}, {"block", texts(launch.block)}, {"shared", launch.shared.text}};
}

/// The launches after the first.
Json thenJson(const judge::Build &build, const SourceKernel &kernel) {
  Json then = Json::array();
  for (size_t i = 0; i < build.then.size() && i < kernel.then.size(); ++i)
    then.push_back({{"kernel", kernel.then[i].kernel}, {"entry", build.then[i].artifact->manifest.entry},
                    {"launch", launchJson(kernel.then[i].launch)}, {"arguments", argumentsJson(build.then[i])}});
  return then;
}

/// What the card's manifest cannot know: the launch and the arguments in the operator's own symbols.
std::string manifestText(const judge::Build &build, const SourceKernel &kernel, const Symbols &symbols,
                         const Json &otherBuilds) {
  Json manifest = Json::parse(card::manifestJson(*build.artifact));
  manifest["launch"] = launchJson(kernel.launch);
  manifest["arguments"] = argumentsJson(build);
  if (!kernel.then.empty())
    manifest["then"] = thenJson(build, kernel);
  Json defines = Json::object();
  for (const auto &[name, define] : kernel.defines)
    defines[name] = define.isExpression ? Json{{"expression", define.value.text}} : Json(define.value.text);
  manifest["defines"] = defines;
  Json limits = Json::object();
  for (const LimitRule &rule : kernel.limits)
    limits[rule.expression.text] = rule.values;
  manifest["limits"]["cases"] = limits;
  Json built = Json::object();
  for (const auto &[name, value] : symbols)
    built[name] = value;
  manifest["built_for"] = built;
  manifest["other_builds"] = otherBuilds; // for cases whose macros differ
  return manifest.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string irText(const cuda::Module &module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.ir->print(out, nullptr);
  return text;
}

void section(std::ostringstream &out, const std::string &name, const std::map<std::string, Placed> &values) {
  if (values.empty())
    return;
  out << "\n[" << name << "]\n";
  for (const auto &[key, value] : values)
    out << tomlQuoted(key) << " = " << tomlQuoted(value.text) << "\n";
}

/// A fraction is a number to a port file; in quotes it would be an expression, which has none.
void argumentSection(std::ostringstream &out, const std::string &name, const std::map<std::string, Placed> &arguments) {
  if (!arguments.empty())
    out << "\n[" << name << "]\n";
  for (const auto &[key, value] : arguments)
    out << tomlQuoted(key) << " = " << (symbolsOf(value.text) ? tomlQuoted(value.text) : value.text) << "\n";
}

void list(std::ostringstream &out, const char *key, const std::vector<Placed> &values) {
  out << key << " = [";
  for (size_t i = 0; i < values.size(); ++i)
    out << (i ? ", " : "") << tomlQuoted(values[i].text);
  out << "]\n";
}

void launchSection(std::ostringstream &out, const char *heading, const Launch &launch, const std::string &kernel) {
  out << "\n" << heading << "\n";
  if (!kernel.empty())
    out << "kernel = " << tomlQuoted(kernel) << "\n";
  list(out, "grid", launch.grid);
  list(out, "block", launch.block);
  out << "shared = " << tomlQuoted(launch.shared.text) << "\n";
}

void acceptSection(std::ostringstream &out, const Request &request) {
  const Accept &accept = request.accept;
  out << "\n[accept]\nmax_error = " << accept.maxError.value_or(defaultMaxError) << "\n";
  if (request.declared)
    return;
  out << "min_speed = " << accept.minSpeed.value_or(defaultMinSpeed) << "\n";
  // The source is no reference of the candidate's own file, whose source is the candidate; figures are read where they lie.
  if (!accept.reference || accept.reference->text == "source")
    return;
  const std::string &name = accept.reference->text;
  out << "reference = " << tomlQuoted(name.ends_with(".toml") ? std::filesystem::absolute(name).lexically_normal().string() : name)
      << "\n";
}

void caseSections(std::ostringstream &out, const std::vector<ops::Case> &cases) {
  for (const ops::Case &c : cases) {
    out << "\n[[case]]\n";
    for (const auto &[symbol, value] : c.symbols)
      out << symbol << " = " << value << "\n";
    out << "distribution = " << tomlQuoted(c.distribution) << "\n";
    for (const auto &[name, value] : c.scalars)
      out << name << " = " << value << "\n";
  }
}

} // namespace

std::string portFileText(const SourceKernel &kernel, const Request &request, const std::string &source) {
  std::ostringstream out;
  out.precision(17);
  out << "# Replays this candidate alone: opsight verify FILE\noperator = " << tomlQuoted(std::string(request.op->name()))
      << "\nsource = " << tomlQuoted(source) << "\n";
  if (!kernel.kernel.empty())
    out << "kernel = " << tomlQuoted(kernel.kernel) << "\n";
  out << "card = " << tomlQuoted(request.card) << "\n";
  if (request.declared)
    out << declarationText(request);
  std::string several = kernel.then.empty() ? "" : "launch.";
  launchSection(out, several.empty() ? "[launch]" : "[[launch]]", kernel.launch, several.empty() ? "" : kernel.kernel);
  argumentSection(out, several + "arguments", kernel.arguments);
  for (const FurtherLaunch &of : kernel.then) {
    launchSection(out, "[[launch]]", of.launch, of.kernel);
    argumentSection(out, several + "arguments", of.arguments);
  }
  if (!kernel.defines.empty())
    out << "\n[defines]\n";
  for (const auto &[name, define] : kernel.defines)
    out << tomlQuoted(name) << " = " << (define.isExpression ? tomlQuoted(define.value.text) : define.value.text) << "\n";
  std::map<std::string, Placed> options;
  for (const auto &[name, value] : request.options)
    options[name] = {value};
  section(out, "options", options);
  if (!kernel.limits.empty())
    out << "\n[limits]\n";
  for (const LimitRule &rule : kernel.limits) {
    out << tomlQuoted(rule.expression.text) << " = [";
    for (size_t i = 0; i < rule.values.size(); ++i)
      out << (i ? ", " : "") << rule.values[i];
    out << "]\n";
  }
  acceptSection(out, request);
  caseSections(out, request.cases);
  return out.str();
}

/// A shared library is called by its soname, so that what is linked with it finds it.
static std::string codeName(const card::Manifest &manifest) {
  return manifest.format == card::Format::Native ? "lib" + manifest.entry + ".so" : "kernel.spv";
}

/// What runs: the code, and for native code how C calls it.
static void addCode(std::vector<FileText> &files, const std::string &folder, const card::Artifact &artifact) {
  files.push_back({folder + codeName(artifact.manifest), artifact.code});
  if (artifact.manifest.format == card::Format::Native)
    files.push_back({folder + artifact.manifest.entry + ".h", lower::cHeader(artifact)});
}

/// A folder's name for the macros that a build was made with: "HEAD_DIM=64,MASK=1".
static std::string buildName(const std::string &defines, size_t number) {
  std::string name = defines.empty() ? "plain" : defines;
  for (char &c : name)
    if (c == ' ' || c == '/')
      c = ',';
  return std::to_string(number) + "-" + name;
}

std::vector<FileText> artifactFiles(const judge::Build &build, const SourceCandidate &candidate, const Symbols &symbols) {
  bool native = build.artifact->manifest.format == card::Format::Native;
  std::vector<FileText> files;
  addCode(files, "", *build.artifact);
  files.push_back({native ? "kernel.s" : "kernel.spvasm", build.artifact->readable});
  Json others = Json::array();
  for (const SourceCandidate::Built &other : candidate.built()) {
    if (other.artifact == build.artifact)
      continue;
    bool further = other.kernel != candidate.source().kernel; // of another launch of the same case
    std::string separator = other.defines.empty() ? "" : " ";
    std::string name = buildName(further ? other.kernel + separator + other.defines : other.defines, others.size() + 1), folder = "builds/" + name + "/";
    addCode(files, folder, *other.artifact);
    files.push_back({folder + "manifest.json", card::manifestJson(*other.artifact)});
    others.push_back({{"kernel", other.artifact->manifest.kernel}, {"defines", other.defines}, {"folder", "builds/" + name}});
  }
  files.push_back({"manifest.json", manifestText(build, candidate.source(), symbols, others)});
  return files;
}

std::vector<FileText> candidateFiles(SourceCandidate &candidate, const Request &request, const ops::Case &sample) {
  std::vector<FileText> files;
  const SourceKernel &kernel = candidate.source();
  std::string name = kernel.file.filename().string();
  Result<std::string> original = readFile(kernel.file);
  if (!kernel.text.empty())
    files.push_back({name, kernel.text});
  else if (original)
    files.push_back({name, *original});
  if (!kernel.text.empty() && original)
    files.push_back({"change.diff", lineDiff(*original, kernel.text, name)});
  // The user's own source may include its neighbours, so it is replayed where it lies.
  bool ours = kernel.proposer == "recipe" || !kernel.text.empty();
  std::string source = ours ? name : std::filesystem::absolute(kernel.file).lexically_normal().string();
  files.push_back({"port.toml", portFileText(kernel, request, source)});
  if (auto module = candidate.moduleFor(sample))
    files.push_back({"module.ll", irText(**module)});
  return files;
}

std::string folderOf(const CandidateResult &candidate) {
  std::string name = candidate.name;
  for (const auto &[key, value] : candidate.parameters)
    name += "-" + key + "-" + value;
  for (char &c : name)
    if (c == '/' || c == ' ')
      c = '-';
  return name;
}

std::string shellQuoted(const std::string &text) {
  static constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+%";
  if (!text.empty() && text.find_first_not_of(plain) == text.npos)
    return text;
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

} // namespace opsight::port
