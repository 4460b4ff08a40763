// A kernel's parameters: which values they may take, what hints fix of them, and the kernel with values in their places.
#pragma once
#include "port/source_candidate.h"

namespace opsight::port {

/// Parts of hints that a parameter may be fixed by.
const std::vector<std::string> &hintParts();

/// The value that each parameter begins with.
Symbols standardValues(std::span<const Parameter> parameters);
/// What `hints` fix, by parameter.
Symbols fixedBy(std::span<const Hint> hints, std::span<const Parameter> parameters);
/// Why the kernel is not right with `values`: the broken rule in its author's words and the value that breaks it.
std::optional<std::string> refused(std::span<const Parameter> parameters, const Symbols &values);

/// The kernel of `request` with `values` of its parameters in the places of their names.
SourceKernel instance(const Request &request, const Symbols &values);

} // namespace opsight::port
