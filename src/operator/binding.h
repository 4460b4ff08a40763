// Which kernel parameter receives what: by [arguments], else by the common spellings of the operator's tensors and
// scalars. What is ambiguous is asked for, never guessed.
#pragma once
#include "operator/operator.h"
#include <optional>

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
  enum class Kind { Tensor, Expression, Scalar, Float } kind = Kind::Expression;
  std::string text;  // name of a tensor or of the scalar that the operator is asked for, or expression
  double value = 1;  // Float: the value. Scalar: the factor on it (log2 e for "scale_log2")
  std::optional<Requirement> onlyWhere{}; // cases where it does not hold are outside the kernel's limits
};

/// A kernel's parameters and, beside them, what each receives.
struct Signature {
  std::vector<ParameterView> views;
  std::vector<Bound> bounds;
};

/// A user error for a key of [arguments] that is no parameter: a slip of the pen.
Status nameParameters(const std::map<std::string, std::string> &arguments, std::span<const ParameterView> parameters);

/// One Bound a parameter, in order. User error naming the parameter and the choices.
Result<std::vector<Bound>> bind(const Operator &op, std::span<const ParameterView> parameters,
                                const std::map<std::string, std::string> &arguments, const Options &options);

/// What follows from symbols that the kernel never hears of (Operator::impliedBy). `heardElsewhere` are those that macros
/// and launch expressions mention. Candidates report cases outside as OutsideLimits (or hand them to the judge in
/// Build::requirements).
std::vector<Requirement> impliedRequirements(const Operator &op, std::span<const Bound> bounds,
                                             std::span<const std::string> heardElsewhere);

/// Why `c` breaks `requirement`, or nothing.
std::optional<std::string> broken(const Requirement &requirement, const Symbols &symbols);

} // namespace opsight::ops
