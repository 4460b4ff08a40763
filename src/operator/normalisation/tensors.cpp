// What the normalisations take and give, with the names that CUDA code uses.
#include "operator/normalisation/normalisation.h"
#include <cmath>

namespace opsight::ops::normalisation {

using Role = TensorInfo::Role;

double epsOf(const Case &c) {
  if (auto own = c.scalars.find("eps"); own != c.scalars.end())
    return double(float(own->second));
  std::string text = optionOf(c.options, "eps");
  return double(text.empty() ? 1e-5f : std::stof(text));
}

OptionInfo epsOption() {
  return {"eps", {"1e-5", "1e-6", "1e-8", "1e-12"}, "what is added to the variance, for kernels that have it built in"};
}

OptionInfo affineOption(Kind kind) {
  if (kind == Kind::Rms)
    return {"affine", {"weight", "none"}, "whether the normalised row is multiplied with a weight"};
  return {"affine", {"weight-bias", "weight", "none"}, "what the normalised row is multiplied with, and what is added"};
}

ScalarInfo epsScalar() { return {"eps", {"eps", "epsilon", "layer_norm_eps", "norm_eps", "variance_epsilon"}, ScalarInfo::Kind::Real}; }

namespace {

TensorInfo weight(Kind kind) {
  std::vector<std::string> with{"weight"};
  if (kind == Kind::Layer)
    with.insert(with.begin(), "weight-bias");
  return {"weight", {"C"}, Role::Input, true, {"weight", "w", "gamma", "scale", "g"}, ElementType::Float32,
          TensorInfo::When{"affine", with}};
}
TensorInfo bias() {
  return {"bias", {"C"}, Role::Input, true, {"bias", "b", "beta"}, ElementType::Float32, TensorInfo::When{"affine", {"weight-bias"}}};
}
TensorInfo perRow(const char *name, Role role, bool optional, std::vector<std::string> spellings) {
  return {name, {"N"}, role, optional, std::move(spellings)};
}
const std::vector<std::string> rstdNames{"rstd", "inv_std", "invstd", "invvar", "inv_var", "rsigma", "r_std", "inv_rms", "rrms"};
const std::vector<std::string> meanNames{"mean", "mu", "means"};

} // namespace

std::vector<TensorInfo> forwardTensors(Kind kind) {
  std::vector<TensorInfo> all{
      {"input", {"N", "C"}, Role::Input, false, {"x", "inp", "input", "in", "src", "hidden_states"}}, weight(kind)};
  if (kind == Kind::Layer)
    all.push_back(bias());
  all.push_back({"output", {"N", "C"}, Role::Output, false, {"y", "out", "output", "outp", "dst", "result", "o"}});
  if (kind == Kind::Layer)
    all.push_back(perRow("mean", Role::Output, true, meanNames));
  all.push_back(perRow("rstd", Role::Output, true, rstdNames));
  return all;
}

std::vector<TensorInfo> backwardTensors(Kind kind) {
  std::vector<TensorInfo> all{
      {"grad_output", {"N", "C"}, Role::Input, false, {"dy", "dout", "grad_output", "grad", "gy", "doutput", "grad_out"}},
      {"input", {"N", "C"}, Role::Input, false, {"x", "inp", "input", "in", "src"}}, weight(kind)};
  if (kind == Kind::Layer)
    all.push_back(perRow("mean", Role::Input, false, meanNames));
  all.push_back(perRow("rstd", Role::Input, false, rstdNames));
  all.push_back({"grad_input", {"N", "C"}, Role::Output, false, {"dx", "dinp", "grad_input", "gx", "din", "dinput", "grad_in"}});
  TensorInfo gradWeight{"grad_weight", {"C"}, Role::Output, true,
                        {"dweight", "dw", "dgamma", "grad_weight", "grad_gamma", "gw", "grad_w"}};
  all.push_back(gradWeight);
  if (kind == Kind::Layer)
    all.push_back({"grad_bias", {"C"}, Role::Output, true, {"dbias", "db", "dbeta", "grad_bias", "grad_beta", "gb", "grad_b"}});
  return all;
}

} // namespace opsight::ops::normalisation
