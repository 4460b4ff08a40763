#include "operator/declared.h"
#include "base/text.h"
#include "operator/random.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace opsight::ops {
namespace {

constexpr uint64_t seedsOfACase = 3;

using Values = BufferType::Values;

std::unexpected<Error> at(const SourcePlace &where, Error error) {
  if (error.where.file.empty())
    error.where = where;
  return std::unexpected(std::move(error));
}

bool isRandom(const DeclaredBuffer &buffer) { return buffer.fill == Fill::Normal || buffer.fill == Fill::Uniform; }

std::string sizesText(const Symbols &symbols) {
  std::vector<std::string> parts;
  for (const auto &[name, value] : symbols)
    parts.push_back(name + "=" + std::to_string(value));
  return parts.empty() ? "the only size" : join(parts, " ");
}

bool agrees(double got, double want, ElementType type) {
  if (std::isnan(got) || std::isnan(want))
    return std::isnan(got) && std::isnan(want);
  return type == ElementType::Float32 || type == ElementType::Float64
             ? std::abs(got - want) <= 1e-5 * std::max(1.0, std::abs(want))
             : got == want;
}

} // namespace

const std::vector<BufferType> &bufferTypes() {
  using enum ElementType;
  static const std::vector<BufferType> types = {
      {"float", Float32, Values::Real},          {"double", Float64, Values::Real},
      {"int", Int32, Values::Signed},            {"unsigned int", Int32, Values::Unsigned},
      {"int32_t", Int32, Values::Signed},        {"uint32_t", Int32, Values::Unsigned},
      {"unsigned", Int32, Values::Unsigned},     {"long long", Int64, Values::Signed},
      {"unsigned long long", Int64, Values::Unsigned}, {"int64_t", Int64, Values::Signed},
      {"uint64_t", Int64, Values::Unsigned},     {"size_t", Int64, Values::Unsigned},
      {"unsigned char", UInt8, Values::Unsigned}, {"uint8_t", UInt8, Values::Unsigned},
      {"char", UInt8, Values::Signed},           {"signed char", UInt8, Values::Signed},
      {"int8_t", UInt8, Values::Signed},         {"bool", UInt8, Values::Truth}};
  return types;
}

const std::vector<std::pair<std::string, Fill>> &fillNames() {
  static const std::vector<std::pair<std::string, Fill>> names = {
      {"normal", Fill::Normal}, {"uniform", Fill::Uniform}, {"zero", Fill::Zero}, {"iota", Fill::Iota}, {"poison", Fill::Poison}};
  return names;
}

Result<std::shared_ptr<Declared>> Declared::create(std::vector<DeclaredSymbol> symbols, std::vector<DeclaredBuffer> buffers) {
  auto made = std::make_shared<Declared>();
  made->symbolRows = std::move(symbols);
  made->declaredBuffers = std::move(buffers);
  for (const DeclaredSymbol &symbol : made->symbolRows) {
    made->symbolNames.push_back(symbol.name);
    made->scalarInfos.push_back({symbol.name, {symbol.name}});
  }
  bool hasOutput = false;
  for (const DeclaredBuffer &buffer : made->declaredBuffers) {
    hasOutput |= buffer.role == TensorInfo::Role::Output || buffer.role == TensorInfo::Role::InOut;
    made->tensorInfos.push_back({buffer.name, {buffer.count}, buffer.role, true, {buffer.name}, buffer.type.element});
  }
  if (!hasOutput)
    return userError("no buffer is an output, so there is nothing to compare",
                     "give one of [buffers] role = \"output\" or \"inout\"");
  if (Status combined = made->combine(); !combined)
    return std::unexpected(combined.error());
  return made;
}

/// Every combination of the symbols' values, the last symbol varying fastest.
Status Declared::combine() {
  std::vector<Symbols> all(1);
  for (const DeclaredSymbol &symbol : symbolRows) {
    if (all.size() * symbol.values.size() > mostCases)
      return userError(fmt::format("the values under [symbols] make more than {} combinations", mostCases),
                       "give fewer values; --case and [[case]] add single ones", symbol.where);
    std::vector<Symbols> longer;
    for (const Symbols &before : all)
      for (int64_t value : symbol.values) {
        longer.push_back(before);
        longer.back()[symbol.name] = value;
      }
    all = std::move(longer);
  }
  uint64_t seeds = std::ranges::any_of(declaredBuffers, isRandom) ? seedsOfACase : 1;
  for (const Symbols &sizes : all)
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      Case partial;
      partial.symbols = sizes;
      partial.seed = seed;
      partial.name = sizesText(sizes) + (seed > 1 ? " seed " + std::to_string(seed) : "");
      Result<Case> complete = completeCase(std::move(partial));
      if (!complete)
        return std::unexpected(complete.error());
      ownCases.push_back(std::move(*complete));
    }
  return {};
}

const DeclaredBuffer *Declared::buffer(const std::string &name) const {
  auto found = std::ranges::find(declaredBuffers, name, &DeclaredBuffer::name);
  return found == declaredBuffers.end() ? nullptr : &*found;
}

Result<Case> Declared::completeCase(Case c, uint64_t maxBytes) const {
  if (!c.scalars.empty() || c.distribution != "normal")
    return userError("a case of operator = \"none\" has sizes and a seed only", "[buffers] say what each buffer is filled with");
  for (const DeclaredSymbol &symbol : symbolRows)
    c.symbols.try_emplace(symbol.name, symbol.values.front());
  if (c.name.empty())
    c.name = sizesText(c.symbols);
  double bytes = 0;
  for (const DeclaredBuffer &buffer : declaredBuffers) {
    Result<int64_t> count = evaluate(buffer.count, c.symbols);
    if (!count)
      return at(buffer.where, count.error());
    if (*count < 0)
      return userError(fmt::format("case '{}': buffer {} would have {} elements", c.name, buffer.name, *count),
                       "count = \"" + buffer.count + "\" must not be negative", buffer.where);
    // An output is there twice while it is compared: as it came, and as the doubles it should be.
    double element = double(sizeOf(buffer.type.element));
    bytes += double(*count) * (buffer.role == TensorInfo::Role::Input ? 2 * element : 2 * element + 8);
    if (bytes > double(maxBytes))
      return userError(fmt::format("case '{}' needs {} MiB of memory up to buffer {}; the limit is {} MiB", c.name,
                                   mebibytes(bytes), buffer.name, maxBytes >> 20),
                       "choose smaller sizes", buffer.where);
  }
  return c;
}

Result<Problem> Declared::make(const Case &c, uint64_t seed) const {
  if (!oracle)
    return internalError("nobody was named who knows the right outputs");
  Problem problem;
  for (size_t n = 0; n < declaredBuffers.size(); ++n) {
    const DeclaredBuffer &buffer = declaredBuffers[n];
    if (buffer.fill == Fill::Poison)
      continue; // the judge's to write
    Result<int64_t> count = evaluate(buffer.count, c.symbols);
    if (!count)
      return at(buffer.where, count.error());
    Result<Tensor> filled = fillOf(buffer, *count, mix(seed + n));
    if (!filled)
      return at(buffer.where, filled.error());
    problem.inputs[buffer.name] = std::move(*filled);
  }
  Result<std::map<std::string, Tensor>> right = oracle->outputs(c, problem);
  if (!right)
    return std::unexpected(right.error());
  for (auto &[name, tensor] : *right) {
    std::vector<double> &want = problem.outputs[name];
    want.resize(size_t(tensor.count()));
    for (size_t n = 0; n < want.size(); ++n)
      want[n] = tensor.valueAt(int64_t(n));
    if (tensor.type != ElementType::Float32 && tensor.type != ElementType::Float64)
      problem.exact[name] = std::move(tensor);
  }
  return problem;
}

Diagnosis Declared::diagnose(const Case &, const Problem &problem, const std::map<std::string, Tensor> &output,
                             const std::string &name, int64_t worst) const {
  const Tensor &got = output.at(name);
  const std::vector<double> &want = problem.outputs.at(name);
  auto before = problem.inputs.find(name);
  int64_t wrong = 0, first = -1, last = -1, unchanged = 0, early = 0, late = 0;
  for (int64_t n = 0; n < int64_t(want.size()); ++n) {
    double value = got.valueAt(n);
    if (agrees(value, want[size_t(n)], got.type))
      continue;
    ++wrong, last = n;
    first = first < 0 ? n : first;
    unchanged += before != problem.inputs.end() && agrees(value, before->second.valueAt(n), got.type);
    early += n > 0 && agrees(value, want[size_t(n - 1)], got.type);
    late += n + 1 < int64_t(want.size()) && agrees(value, want[size_t(n + 1)], got.type);
  }
  std::string where = fmt::format("{} of {} elements differ, the first at {}, the last at {}", wrong, want.size(), first, last);
  if (wrong && unchanged == wrong)
    return {"unchanged", where + "; all of them hold what they held before the run"};
  if (std::max(early, late) > 1 && 2 * std::max(early, late) > wrong)
    return {"neighbour", where + fmt::format("; {} hold what the element {} them should", std::max(early, late),
                                             early > late ? "before" : "after")};
  if (std::isnan(got.valueAt(worst)))
    where += "; this one is NaN";
  return {"values", where};
}

} // namespace opsight::ops
