// The vendor's function as a candidate: no code of ours, a name that the worker knows (src/card/library.h).
#include "card/library.h"
#include "judge/judge.h"
#include <algorithm>

namespace opsight::judge {
namespace {

using Kind = card::LibraryParameter::Kind;

class Vendor final : public Candidate {
public:
  Vendor(const ops::Operator &op, const card::LibrarySignature &signature)
      : op(op), signature(signature), artifact(std::make_shared<card::Artifact>(card::libraryArtifact(signature))) {}
  std::string name() const override { return "oneDNN"; }
  std::string proposer() const override { return "vendor"; }
  Result<std::variant<Build, OutsideLimits>> prepare(const ops::Case &c) override {
    for (const card::LibrarySignature::Only &only : signature.only)
      if (auto option = c.options.find(only.option); option != c.options.end() && option->second != only.value)
        return OutsideLimits{std::string("the vendor's function is called with ") + only.option + " = " + only.value + " only"};
    Build build;
    build.artifact = artifact;
    for (const card::LibraryParameter &parameter : signature.parameters) {
      build.arguments.push_back(boundTo(parameter, c));
      build.parameters.push_back(viewOf(parameter));
    }
    return build;
  }

private:
  const ops::Operator &op;
  const card::LibrarySignature &signature;
  std::shared_ptr<const card::Artifact> artifact;

  ops::Bound boundTo(const card::LibraryParameter &parameter, const ops::Case &c) const {
    if (parameter.kind == Kind::Tensor) {
      auto info = std::ranges::find(op.tensors(), parameter.name, &ops::TensorInfo::name);
      bool isThere = info != op.tensors().end() && (!info->when || info->when->holds(c.options));
      return {ops::Bound::Kind::Tensor, isThere ? parameter.name : signature.parameters.front().name}; // never read there
    }
    if (parameter.kind == Kind::Size)
      return {ops::Bound::Kind::Expression, parameter.name};
    if (parameter.kind != Kind::Option)
      return {ops::Bound::Kind::Scalar, parameter.name};
    auto info = std::ranges::find(op.options(), parameter.name, &ops::OptionInfo::name);
    auto value = c.options.find(parameter.name);
    auto index = value == c.options.end() ? 0 : std::ranges::find(info->values, value->second) - info->values.begin();
    return {ops::Bound::Kind::Float, parameter.name, double(index)};
  }

  static ops::ParameterView viewOf(const card::LibraryParameter &parameter) {
    switch (parameter.kind) {
    case Kind::Tensor:
      return {parameter.name, true, false, ops::ElementType::Float32, 8, "float *"};
    case Kind::Size:
      return {parameter.name, false, false, ops::ElementType::Int64, 8, "int64_t"};
    case Kind::Real:
      return {parameter.name, false, false, ops::ElementType::Float32, 4, "float"};
    default:
      return {parameter.name, false, false, ops::ElementType::Int32, 4, "int"};
    }
  }
};

} // namespace

std::unique_ptr<Candidate> vendorReference(const ops::Operator &op) {
  const card::LibrarySignature *signature = card::librarySignature(op.name());
  return signature ? std::make_unique<Vendor>(op, *signature) : nullptr;
}

} // namespace opsight::judge
