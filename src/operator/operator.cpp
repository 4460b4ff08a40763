// What all operators share: element types, option defaults, and the registry.
#include "operator/operator.h"
#include "base/text.h"
#include "operator/attention.h"
#include <algorithm>
#include <array>

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
  static const std::vector<const Operator *> all{&scaledDotProductAttention()};
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
