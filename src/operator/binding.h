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

/// What must hold of a case for a kernel to be asked at all: `left` and `right` are expressions of equal value.
struct Requirement {
  std::string left, right;
  std::string why; // "n is one length for queries and keys"
};

/// What a parameter receives.
struct Bound {
  enum class Kind { Tensor, Expression, Scale, Causal, Float } kind = Kind::Expression;
  std::string text;  // tensor name or expression
  double value = 0;  // Float: the value. Scale: the factor on the scale (log2 e for "scale_log2"), 0 means 1
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

/// What follows from symbols that the kernel never hears of: without S the keys are as many as the queries, without
/// Hkv the heads are not grouped, without Dv the value is as wide as the query. `heardElsewhere` are the symbols that
/// macros and launch expressions mention. Candidates report cases outside as OutsideLimits (or hand them to the judge
/// in Build::requirements).
std::vector<Requirement> impliedRequirements(const Operator &op, std::span<const Bound> bounds,
                                             std::span<const std::string> heardElsewhere);

/// Why `c` breaks `requirement`, or nothing.
std::optional<std::string> broken(const Requirement &requirement, const Symbols &symbols);

} // namespace opsight::ops
