// Which kernel parameter receives what: by [arguments], else by the common spellings of the operator's tensors and
// scalars. What is ambiguous is asked for, never guessed.
#pragma once
#include "operator/operator.h"

namespace opsight::ops {

/// A kernel parameter as the binding needs to see it.
struct ParameterView {
  std::string name;
  bool isPointer = false;
  bool isConst = false;
  ElementType element = ElementType::Float32;
  uint32_t bytes = 0;
  std::string type; // as written, for messages
};

/// What a parameter receives.
struct Bound {
  enum class Kind { Tensor, Expression, Scale, Causal, Float } kind = Kind::Expression;
  std::string text;  // tensor name or expression
  double value = 0;  // Float
};

/// One Bound a parameter, in order. User error naming the parameter and the choices.
Result<std::vector<Bound>> bind(const Operator &op, std::span<const ParameterView> parameters,
                                const std::map<std::string, std::string> &arguments, const Options &options);

} // namespace opsight::ops
