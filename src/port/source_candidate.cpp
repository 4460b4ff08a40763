#include "port/source_candidate.h"
#include "base/file.h"
#include "base/text.h"
#include "cuda/compile.h"
#include "port/contains.h"
#include "port/parameters.h"
#include <limits>

namespace opsight::port {

SourceKernel faithful(const Request &request) {
  SourceKernel kernel = instance(request, standardValues(request.parameters));
  kernel.name = kernel.proposer = "faithful";
  return kernel;
}

SourceCandidate::SourceCandidate(const ops::Operator &op, SourceKernel kernel, CardTarget target)
    : op(op), kernel(std::move(kernel)), target(std::move(target)) {}

static std::unexpected<Error> at(const SourcePlace &where, Error error) {
  if (error.where.file.empty())
    error.where = where;
  return std::unexpected(std::move(error));
}

Symbols SourceCandidate::symbolsOf(const ops::Case &c) const {
  Symbols symbols = c.symbols;
  for (const ops::OptionInfo &option : op.options())
    if (auto value = c.options.find(option.name); value != c.options.end())
      symbols[option.name] = std::ranges::find(option.values, value->second) - option.values.begin();
  return symbols;
}

Result<std::optional<std::string>> SourceCandidate::outside(const Symbols &symbols) const {
  for (const LimitRule &rule : kernel.limits) {
    Result<int64_t> value = evaluate(rule.expression.text, symbols);
    if (!value)
      return at(rule.expression.where, value.error());
    if (contains(rule.values, *value))
      continue;
    return rule.expression.text + " = " + std::to_string(*value) + " is outside the kernel's limits";
  }
  return std::optional<std::string>();
}

Result<std::map<std::string, std::string>> SourceCandidate::definesOf(const Symbols &symbols) const {
  Defines values;
  for (const auto &[name, define] : kernel.defines) {
    if (!define.isExpression) {
      values[name] = define.value.text;
      continue;
    }
    Result<int64_t> value = evaluate(define.value.text, symbols);
    if (!value)
      return at(define.value.where, value.error());
    values[name] = std::to_string(*value);
  }
  return values;
}

static Result<uint32_t> dimension(const Placed &text, const Symbols &symbols) {
  Result<int64_t> value = evaluate(text.text, symbols);
  if (!value)
    return at(text.where, value.error());
  if (*value < 0 || *value > std::numeric_limits<uint32_t>::max())
    return userError("the launch's " + text.text + " is " + std::to_string(*value), "a dimension fits 32 bits", text.where);
  return static_cast<uint32_t>(*value);
}

static Result<card::Dim3> dimensions(const std::vector<Placed> &texts, const Symbols &symbols) {
  uint32_t values[3] = {1, 1, 1};
  for (size_t i = 0; i < texts.size() && i < 3; ++i) {
    Result<uint32_t> value = dimension(texts[i], symbols);
    if (!value)
      return std::unexpected(value.error());
    values[i] = *value;
  }
  return card::Dim3{values[0], values[1], values[2]};
}

Result<card::LaunchConfig> SourceCandidate::launchOf(const Launch &of, const Symbols &symbols) {
  Result<card::Dim3> grid = dimensions(of.grid, symbols);
  if (!grid)
    return std::unexpected(grid.error());
  Result<card::Dim3> block = dimensions(of.block, symbols);
  if (!block)
    return std::unexpected(block.error());
  // Any card refuses more than some thousand threads, and says so; code for a thousand million would not end being made.
  constexpr uint64_t mostThreads = 1 << 20;
  if (block->count() > mostThreads)
    return userError("the launch's block has " + std::to_string(block->count()) + " threads", "a block of CUDA's has up to 1024",
                     of.block.empty() ? SourcePlace{} : of.block.front().where);
  Result<int64_t> shared = evaluate(of.shared.text, symbols);
  if (!shared)
    return at(of.shared.where, shared.error());
  if (*shared < 0)
    return userError("the launch's shared memory is " + std::to_string(*shared) + " bytes", {}, of.shared.where);
  return card::LaunchConfig{*grid, *block, static_cast<uint64_t>(*shared)};
}

/// Where a kernel of the library finds its neighbours, also when it is replayed from a copy.
static std::vector<std::string> libraryFolders() {
  std::vector<std::string> folders = {(dataRoot() / "kernels").string()};
  std::error_code failed;
  for (const auto &entry : std::filesystem::directory_iterator(dataRoot() / "kernels", failed))
    if (entry.is_directory())
      folders.push_back(entry.path().string());
  std::ranges::sort(folders);
  return folders;
}

Result<std::shared_ptr<const cuda::Module>> SourceCandidate::compiled(const std::string &name, const Defines &defines) {
  if (auto found = modules.find({name, defines}); found != modules.end())
    return found->second;
  cuda::CompileRequest request;
  request.file = kernel.file.string();
  request.text = kernel.text;
  request.kernel = name;
  request.defines = defines;
  request.includeFolders = libraryFolders();
  Result<cuda::Module> module = cuda::compile(request);
  if (!module)
    return std::unexpected(module.error());
  return modules[{name, defines}] = std::make_shared<const cuda::Module>(std::move(*module));
}

Result<std::shared_ptr<const cuda::Module>> SourceCandidate::moduleOf(const std::string &name, const ops::Case &c) {
  Result<Defines> defines = definesOf(symbolsOf(c));
  if (!defines)
    return std::unexpected(defines.error());
  return compiled(name, *defines);
}

static std::string keyOf(const std::map<std::string, std::string> &defines) {
  std::vector<std::string> parts;
  for (const auto &[name, value] : defines)
    parts.push_back(name + "=" + value);
  return join(parts, " ");
}

Result<std::shared_ptr<const card::Artifact>> SourceCandidate::lowered(const std::string &name, const Defines &defines,
                                                                                const card::Dim3 &block) {
  std::string key = keyOf(defines);
  std::string full = name + " " + key + " block=" + std::to_string(block.x) + "," + std::to_string(block.y) + "," + std::to_string(block.z);
  if (auto found = artifacts.find(full); found != artifacts.end())
    return found->second.artifact;
  Result<std::shared_ptr<const cuda::Module>> module = compiled(name, defines);
  if (!module)
    return std::unexpected(module.error());
  lower::Target to;
  to.block = block;
  to.subgroupWidths = {target.device.subgroupWidths.begin(), target.device.subgroupWidths.end()};
  to.hasDouble = target.device.hasDouble;
  to.hasHalf = target.device.hasHalf;
  to.watched = watching;
  if (!target.profile.processor.empty())
    to.processor = target.profile.processor;
  Result<card::Artifact> artifact =
      target.profile.ir == "native" ? lower::toNative(**module, to) : lower::toSpirv(**module, to);
  if (!artifact)
    return std::unexpected(artifact.error());
  auto kept = std::make_shared<const card::Artifact>(std::move(*artifact));
  artifacts[full] = {name, key, kept};
  return kept;
}

std::vector<SourceCandidate::Built> SourceCandidate::built() const {
  std::vector<Built> all;
  for (const auto &[full, lowered] : artifacts)
    all.push_back({lowered.kernel, lowered.key, lowered.artifact});
  return all;
}

/// Symbols that the kernel hears of by its launch and macros rather than by a parameter.
std::vector<std::string> SourceCandidate::heardElsewhere() const {
  std::vector<std::string> heard;
  auto hear = [&](const std::string &expression) {
    if (Result<std::vector<std::string>> used = opsight::symbolsOf(expression))
      heard.insert(heard.end(), used->begin(), used->end());
  };
  for (const Placed &text : kernel.launch.grid)
    hear(text.text);
  for (const Placed &text : kernel.launch.block)
    hear(text.text);
  hear(kernel.launch.shared.text);
  for (const auto &[name, define] : kernel.defines)
    if (define.isExpression)
      hear(define.value.text);
  return heard;
}

std::vector<FurtherLaunch> SourceCandidate::launches() const {
  std::vector<FurtherLaunch> all{{kernel.kernel, kernel.launch, kernel.arguments}};
  all.insert(all.end(), kernel.then.begin(), kernel.then.end());
  return all;
}

Result<std::vector<ops::Signature>> SourceCandidate::signaturesFor(const ops::Case &c) {
  Result<Defines> defines = definesOf(symbolsOf(c));
  if (!defines)
    return std::unexpected(defines.error());
  std::vector<ops::Signature> all;
  for (const FurtherLaunch &of : launches()) {
    Result<std::shared_ptr<const cuda::Module>> module = compiled(of.kernel, *defines);
    if (!module)
      return std::unexpected(module.error());
    Result<ops::Signature> signature = boundTo(op, (*module)->kernel, of.arguments, c.options);
    if (!signature)
      return std::unexpected(signature.error());
    all.push_back(std::move(*signature));
  }
  return all;
}

Result<judge::Step> SourceCandidate::stepFor(const FurtherLaunch &of, const Defines &defines, const Symbols &symbols,
                                             const ops::Options &options) {
  Result<card::LaunchConfig> launch = launchOf(of.launch, symbols);
  if (!launch)
    return std::unexpected(launch.error());
  Result<std::shared_ptr<const cuda::Module>> module = compiled(of.kernel, defines);
  if (!module)
    return std::unexpected(module.error());
  Result<ops::Signature> signature = boundTo(op, (*module)->kernel, of.arguments, options);
  if (!signature)
    return std::unexpected(signature.error());
  Result<std::shared_ptr<const card::Artifact>> artifact = lowered(of.kernel, defines, launch->block);
  if (!artifact)
    return std::unexpected(artifact.error());
  return judge::Step{*artifact, *launch, std::move(signature->bounds), std::move(signature->views)};
}

Result<std::variant<judge::Build, judge::OutsideLimits>> SourceCandidate::prepare(const ops::Case &c) {
  Symbols symbols = symbolsOf(c);
  Result<std::optional<std::string>> why = outside(symbols);
  if (!why)
    return std::unexpected(why.error());
  if (*why)
    return judge::OutsideLimits{**why};
  Result<Defines> defines = definesOf(symbols);
  if (!defines)
    return std::unexpected(defines.error());
  judge::Build build;
  for (const FurtherLaunch &of : launches()) {
    Result<judge::Step> step = stepFor(of, *defines, symbols, c.options);
    if (!step)
      return std::unexpected(step.error());
    if (!build.artifact)
      static_cast<judge::Step &>(build) = std::move(*step);
    else
      build.then.push_back(std::move(*step));
  }
  build.requirements = ops::impliedRequirements(op, build.arguments, heardElsewhere());
  return build;
}

static std::optional<ops::ElementType> elementType(const std::string &name) {
  using enum ops::ElementType;
  static const std::map<std::string, ops::ElementType> table = {
      {"float", Float32},      {"double", Float64},     {"half", Float16},       {"__half", Float16},
      {"bfloat16", BFloat16},  {"__nv_bfloat16", BFloat16}, {"int", Int32},      {"unsigned int", Int32},
      {"long", Int64},         {"long long", Int64},    {"unsigned long", Int64}, {"unsigned long long", Int64},
      {"bool", UInt8},         {"unsigned char", UInt8}, {"signed char", UInt8}, {"char", UInt8},
      {"float4", Float32},     {"float2", Float32},     {"float3", Float32}};
  auto found = table.find(name);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

Result<std::vector<ops::ParameterView>> viewsOf(const cuda::Kernel &kernel) {
  std::vector<ops::ParameterView> views;
  for (const cuda::KernelParameter &parameter : kernel.parameters) {
    ops::ParameterView view{.name = parameter.name, .type = parameter.type};
    view.isPointer = parameter.kind == cuda::KernelParameter::Kind::Pointer;
    view.isConst = parameter.isConst;
    view.bytes = parameter.bytes;
    std::optional<ops::ElementType> element = elementType(parameter.element);
    if (parameter.kind == cuda::KernelParameter::Kind::Struct || !element)
      return unsupported("parameter '" + parameter.type + " " + parameter.name + "' has a type that no value of an operator has",
                         "kernels take pointers and numbers", kernel.facts.where);
    view.element = *element;
    views.push_back(std::move(view));
  }
  return views;
}

Result<ops::Signature> boundTo(const ops::Operator &op, const cuda::Kernel &kernel, const std::map<std::string, Placed> &said,
                               const ops::Options &options) {
  Result<std::vector<ops::ParameterView>> views = viewsOf(kernel);
  if (!views)
    return std::unexpected(views.error());
  std::map<std::string, std::string> arguments;
  for (const auto &[name, value] : said)
    arguments[name] = value.text;
  Result<std::vector<ops::Bound>> bounds = ops::bind(op, *views, arguments, options);
  if (!bounds)
    return at(kernel.facts.where, bounds.error());
  return ops::Signature{std::move(*views), std::move(*bounds)};
}

} // namespace opsight::port
