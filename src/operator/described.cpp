#include "operator/described.h"
#include "base/text.h"
#include <cmath>

namespace opsight::ops {
namespace {

/// "N=4 C=65" or "eps=0.1": calls take(name, value) for each.
template <class Take> void eachSetting(std::string_view text, Take take) {
  for (const std::string &part : split(std::string(text), ' '))
    if (size_t equals = part.find('='); equals != part.npos)
      take(part.substr(0, equals), part.substr(equals + 1));
}

Symbols sizesOf(const std::string &text) {
  Symbols symbols;
  eachSetting(text, [&](const std::string &name, const std::string &value) { symbols[name] = std::stoll(value); });
  return symbols;
}

} // namespace

Described::Described(Description described) : description(std::move(described)) {
  for (const SymbolRow &row : description.symbols)
    symbolNames.push_back(row.name);
}

std::string Described::symbolHelp(const std::string &symbol) const {
  auto row = std::ranges::find(description.symbols, symbol, &SymbolRow::name);
  return row == description.symbols.end() ? std::string() : row->help;
}

bool Described::has(const std::string &tensor, const Options &options) const {
  auto info = std::ranges::find(description.tensors, tensor, &TensorInfo::name);
  return info != description.tensors.end() && (!info->when || info->when->holds(options));
}

std::vector<Case> Described::cases(const Options &options) const {
  std::vector<Case> all;
  for (const CaseRow &row : description.cases) {
    Case c;
    c.name = std::string(row.distribution) + " " + row.sizes + (*row.scalars ? " " : "") + row.scalars;
    c.symbols = sizesOf(row.sizes);
    c.options = options;
    c.distribution = row.distribution;
    c.seed = all.size() + 1;
    c.own = true;
    c.note = row.note;
    eachSetting(row.scalars, [&](const std::string &name, const std::string &value) { c.scalars[name] = std::stod(value); });
    all.push_back(std::move(c));
  }
  return all;
}

Case Described::speedCase(const Options &options) const {
  Case c;
  c.name = description.speedSizes;
  c.symbols = sizesOf(description.speedSizes);
  c.options = options;
  return c;
}

Result<Case> Described::completeCase(Case c, uint64_t maxBytes) const {
  for (const auto &[name, value] : c.symbols)
    if (std::ranges::find(symbolNames, name) == symbolNames.end())
      return userError(unknownName("symbol", name, symbolNames));
  for (const SymbolRow &row : description.symbols) {
    if (!c.symbols.contains(row.name)) {
      if (row.otherwise.empty())
        return userError("case '" + c.name + "' does not say " + row.name + ", " + row.help,
                         "write for example " + description.speedSizes);
      auto value = evaluate(row.otherwise, c.symbols);
      if (!value)
        return std::unexpected(value.error());
      c.symbols[row.name] = *value;
    }
    if (int64_t value = c.symbols[row.name]; value < row.least)
      return userError("case '" + c.name + "': " + row.name + " = " + std::to_string(value) + " is " +
                       (value < 0 ? "negative" : "less than " + std::to_string(row.least)));
  }
  auto complete = completeOptions(c.options);
  if (!complete)
    return std::unexpected(complete.error());
  c.options = *complete;
  if (std::ranges::find(description.distributions, c.distribution) == description.distributions.end())
    return userError(unknownName("distribution", c.distribution, description.distributions));
  for (const auto &[name, value] : c.scalars)
    if (!std::isfinite(value))
      return userError("case '" + c.name + "': " + name + " is not finite");
  // Doubles of the reference beside the floats, all tensors, without overflow: sizes may be absurd.
  double bytes = 0;
  for (const TensorInfo &tensor : description.tensors) {
    double count = has(tensor.name, c.options) ? 1 : 0;
    for (const std::string &symbol : tensor.shape)
      count *= double(c.symbols[symbol]);
    bytes += count * (tensor.isCompared() ? 12 : 4);
  }
  if (bytes > double(maxBytes))
    return userError("case '" + c.name + "' needs " + mebibytes(bytes) + " MiB of memory; the limit is " +
                         std::to_string(maxBytes >> 20) + " MiB",
                     "choose smaller sizes");
  if (c.name.empty()) {
    for (const std::string &symbol : symbolNames)
      c.name += symbol + "=" + std::to_string(c.symbols[symbol]) + " ";
    c.name += c.distribution == "normal" ? "" : c.distribution;
    c.name.erase(c.name.find_last_not_of(' ') + 1);
  }
  return c;
}

Tensor floatsOf(std::vector<int64_t> shape) {
  Tensor t{ElementType::Float32, std::move(shape), {}};
  t.bytes.resize(size_t(t.count()) * sizeof(float));
  return t;
}

Tensor normalTensor(std::vector<int64_t> shape, Random &random) {
  Tensor tensor = floatsOf(std::move(shape));
  for (float &x : tensor.as<float>())
    x = float(random.normal());
  return tensor;
}

std::string optionOf(const Options &options, const std::string &name) {
  auto found = options.find(name);
  return found == options.end() ? std::string() : found->second;
}

PlainErrors plainErrors(std::span<const float> got, std::span<const double> want, std::span<const double> magnitudes,
                        size_t rows, size_t step) {
  PlainErrors errors;
  size_t rowWidth = std::max<size_t>(1, want.size() / std::max<size_t>(1, rows));
  size_t width = magnitudes.empty() ? 1 : std::max<size_t>(1, want.size() / magnitudes.size()), finite = 0;
  for (size_t n = 0; n < want.size(); ++n) {
    if (n / rowWidth % step)
      continue;
    double magnitude = magnitudes.empty() ? 1 : magnitudes[n / width];
    double error = std::abs(double(got[n]) - want[n]) / std::max(magnitude, std::abs(want[n]));
    if (!std::isfinite(error)) // NaN where NaN is right
      continue;
    errors.largest = std::max(errors.largest, error);
    errors.rms += error * error;
    ++finite;
  }
  errors.rms = finite ? std::sqrt(errors.rms / double(finite)) : 0;
  return errors;
}

} // namespace opsight::ops
