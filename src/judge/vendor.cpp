// The vendor's function as a candidate: no code of ours, a name that the worker knows (src/card/cpu/library.h).
#include "judge/judge.h"

namespace opsight::judge {
namespace {

class Vendor final : public Candidate {
public:
  explicit Vendor(std::string function) {
    auto made = std::make_shared<card::Artifact>();
    made->manifest.kernel = made->manifest.entry = function;
    made->manifest.format = card::Format::Library;
    auto tensor = [&](const char *name) {
      made->manifest.parameters.push_back({name, card::Parameter::Kind::Buffer, 8, 8});
      build.arguments.push_back({ops::Bound::Kind::Tensor, name});
      build.parameters.push_back({name, true, std::string_view(name) != "output", ops::ElementType::Float32, 8, "float *"});
    };
    auto scalar = [&](const char *name, ops::Bound::Kind kind, ops::ElementType element, const char *type) {
      uint32_t bytes = uint32_t(ops::sizeOf(element));
      made->manifest.parameters.push_back({name, card::Parameter::Kind::Scalar, bytes, bytes});
      build.arguments.push_back({kind, name});
      build.parameters.push_back({name, false, false, element, bytes, type});
    };
    for (const char *name : {"query", "key", "value", "output"})
      tensor(name);
    for (const char *name : {"B", "H", "Hkv", "L", "S", "D", "Dv"})
      scalar(name, ops::Bound::Kind::Expression, ops::ElementType::Int64, "int64_t");
    scalar("causal", ops::Bound::Kind::Scalar, ops::ElementType::Int32, "int");
    scalar("scale", ops::Bound::Kind::Scalar, ops::ElementType::Float32, "float");
    build.artifact = std::move(made);
  }
  std::string name() const override { return "oneDNN"; }
  std::string proposer() const override { return "vendor"; }
  Result<std::variant<Build, OutsideLimits>> prepare(const ops::Case &c) override {
    auto mask = c.options.find("mask");
    if (mask != c.options.end() && mask->second != "none")
      return OutsideLimits{"the vendor's function is called without a mask only"};
    return build;
  }

private:
  Build build;
};

} // namespace

std::unique_ptr<Candidate> vendorReference(const ops::Operator &op) {
  if (op.name() != "scaled_dot_product_attention")
    return nullptr;
  return std::make_unique<Vendor>("onednn/" + std::string(op.name()));
}

} // namespace opsight::judge
