// Proposer "recipe": kernels of our own (kernels/), with the engineer's hints as their parameters. One table row each.
#pragma once
#include "port/source_candidate.h"

namespace opsight::port {

/// Hints that say how the kernel is built, not how it is judged; only these bring recipes in.
bool shapesKernel(const Hint &hint);

/// Recipes for the request's operator under its hints: first the one to judge, then variants of what the hints leave
/// free, to be measured. Unsupported, naming hint and limit, when no recipe can keep the hints.
Result<std::vector<SourceKernel>> proposeRecipes(const Request &request, const card::Profile &profile);

} // namespace opsight::port
