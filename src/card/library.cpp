#include "card/library.h"
#include <algorithm>

namespace opsight::card {
namespace {

using Kind = LibraryParameter::Kind;

/// Names of one kind, then of the next.
std::vector<LibraryParameter> list(std::initializer_list<std::pair<Kind, std::initializer_list<const char *>>> groups) {
  std::vector<LibraryParameter> all;
  for (const auto &[kind, names] : groups)
    for (const char *name : names)
      all.push_back({kind, name});
  return all;
}

constexpr const char *rowsApart = "one primitive a core, each on its share of the rows";

const std::vector<LibrarySignature> &signatures() {
  static const std::vector<LibrarySignature> table{
      {"scaled_dot_product_attention",
       "matrix product, softmax, matrix product on tiles of query rows whose scores stay in the second-level cache, one tile a "
       "core at a time",
       list({{Kind::Tensor, {"query", "key", "value", "output"}},
             {Kind::Size, {"B", "H", "Hkv", "L", "S", "D", "Dv"}},
             {Kind::Whole, {"causal"}},
             {Kind::Real, {"scale"}}}),
       {{"mask", "none"}}},
      {"softmax", rowsApart, list({{Kind::Tensor, {"input", "output"}}, {Kind::Size, {"N", "C"}}, {Kind::Option, {"log"}}})},
      {"softmax_backward", rowsApart,
       list({{Kind::Tensor, {"output", "grad_output", "grad_input"}}, {Kind::Size, {"N", "C"}}, {Kind::Option, {"log"}}})},
      {"layernorm", rowsApart,
       list({{Kind::Tensor, {"input", "weight", "bias", "output"}}, {Kind::Size, {"N", "C"}}, {Kind::Option, {"affine"}}, {Kind::Real, {"eps"}}})},
      {"layernorm_backward", "one primitive a core, each on its share of the rows; their sums for weight and bias are then added",
       list({{Kind::Tensor, {"grad_output", "input", "weight", "mean", "rstd", "grad_input", "grad_weight", "grad_bias"}},
             {Kind::Size, {"N", "C"}}}),
       {{"affine", "weight-bias"}, {"accumulate", "none"}}},
      {"matmul", "one product a core, each on its share of the rows, bias, gelu and residual as post-operations",
       list({{Kind::Tensor, {"a", "b", "bias", "residual", "output"}},
             {Kind::Size, {"M", "N", "K"}},
             {Kind::Option, {"transpose_b", "epilogue"}}})},
  };
  return table;
}

} // namespace

const LibrarySignature *librarySignature(std::string_view operatorName) {
  auto found = std::ranges::find(signatures(), operatorName, &LibrarySignature::operatorName);
  return found == signatures().end() ? nullptr : &*found;
}

Artifact libraryArtifact(const LibrarySignature &signature) {
  Artifact artifact;
  Manifest &m = artifact.manifest;
  m.kernel = m.entry = std::string("onednn/") + signature.operatorName;
  m.format = Format::Library;
  for (const LibraryParameter &parameter : signature.parameters) {
    if (parameter.kind == Kind::Tensor) {
      m.parameters.push_back({.name = parameter.name, .kind = Parameter::Kind::Buffer});
      continue;
    }
    uint32_t bytes = parameter.kind == Kind::Size ? 8 : 4;
    m.parameters.push_back({.name = parameter.name, .kind = Parameter::Kind::Scalar, .bytes = bytes, .alignment = bytes});
  }
  m.notes = {std::string("oneDNN: ") + signature.how};
  return artifact;
}

} // namespace opsight::card
