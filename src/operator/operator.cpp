// What all operators share: element types, option defaults, and the registry.
#include "operator/operator.h"
#include "base/text.h"
#include "operator/attention/attention.h"
#include "operator/matmul/matmul.h"
#include "operator/normalisation/normalisation.h"
#include "operator/softmax/softmax.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace opsight::ops {
namespace {

struct TypeRow {
  ElementType type;
  size_t bytes;
  std::string_view name;
};
constexpr std::array<TypeRow, 7> types{{
    {ElementType::Float32, 4, "float"},
    {ElementType::Float64, 8, "double"},
    {ElementType::Float16, 2, "half"},
    {ElementType::BFloat16, 2, "bfloat16"},
    {ElementType::Int32, 4, "int"},
    {ElementType::Int64, 8, "int64"},
    {ElementType::UInt8, 1, "unsigned char"},
}};

const TypeRow &row(ElementType type) {
  for (const TypeRow &r : types)
    if (r.type == type)
      return r;
  return types[0];
}

} // namespace

size_t sizeOf(ElementType type) { return row(type).bytes; }
std::string_view nameOf(ElementType type) { return row(type).name; }

template <class T> static double elementAt(const Tensor &tensor, int64_t at) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + at * int64_t(sizeof(T)), sizeof(T));
  return double(value);
}

double Tensor::valueAt(int64_t at) const {
  switch (type) {
  case ElementType::Float64:
    return elementAt<double>(*this, at);
  case ElementType::Int32:
    return elementAt<int32_t>(*this, at);
  case ElementType::Int64:
    return double(elementAt<int64_t>(*this, at));
  case ElementType::UInt8:
    return elementAt<uint8_t>(*this, at);
  default: // no tensor of halves is judged yet
    return elementAt<float>(*this, at);
  }
}

Result<std::vector<int64_t>> extentsOf(const TensorInfo &info, const Symbols &symbols) {
  std::vector<int64_t> extents;
  for (const std::string &text : info.shape) {
    Result<int64_t> extent = evaluate(text, symbols);
    if (!extent)
      return std::unexpected(extent.error());
    extents.push_back(*extent);
  }
  return extents;
}

std::string mebibytes(double bytes) {
  char text[32];
  double count = std::ceil(bytes / (1 << 20));
  std::snprintf(text, sizeof text, count < 1e15 ? "%.0f" : "%.2e", count);
  return text;
}

bool TensorInfo::When::holds(const Options &options) const {
  auto found = options.find(option);
  return found != options.end() && std::ranges::find(values, found->second) != values.end();
}

const std::vector<SharedSize> &Operator::sharedSizes() const {
  static const std::vector<SharedSize> none;
  return none;
}

int64_t Tensor::count() const {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  return n;
}

Result<Options> Operator::completeOptions(const Options &partial) const {
  Options complete;
  std::vector<std::string> names;
  for (const OptionInfo &option : options()) {
    names.push_back(option.name);
    complete[option.name] = option.values.front();
  }
  for (const auto &[name, value] : partial) {
    const OptionInfo *known = nullptr;
    for (const OptionInfo &option : options())
      if (option.name == name)
        known = &option;
    if (!known)
      return userError(unknownName("option", name, names), "`opsight ops " + std::string(this->name()) + "` lists them");
    if (std::find(known->values.begin(), known->values.end(), value) == known->values.end())
      return userError(unknownName("value of " + name, value, known->values));
    complete[name] = value;
  }
  return complete;
}

const std::vector<const Operator *> &allOperators() {
  static const std::vector<const Operator *> all{&scaledDotProductAttention(), &scaledDotProductAttentionBackward(), &softmax(),   &softmaxBackward(),
                                                &layernorm(),                 &layernormBackward(),
                                                &rmsnorm(),                   &rmsnormBackward(),
                                                &matmul()};
  return all;
}

Result<const Operator *> findOperator(const std::string &name) {
  std::vector<std::string> known;
  for (const Operator *op : allOperators()) {
    if (op->name() == name)
      return op;
    known.emplace_back(op->name());
  }
  return userError(unknownName("operator", name, known), "`opsight ops` lists the operators");
}

} // namespace opsight::ops
