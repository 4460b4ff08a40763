// Which values of a kernel's parameters are worth measuring, and in what order: those that the card can hold, by the model
// that the kernel declares. The model orders and prunes; only measurement decides.
#pragma once
#include "port/recipe.h"

namespace opsight::port {

/// `values` with those of `over` in their places.
Symbols under(Symbols values, const Symbols &over);

/// Fills `others` and `leftOut` of `proposal`; a kernel without a model keeps the order of its lists.
void orderSearch(Proposal &proposal, const TuningGround &ground);

/// What would be worth measuring beside `chosen` if `parameters` were free and all others stayed, best by the model first.
std::vector<Symbols> besides(const Proposal &proposal, const Symbols &chosen, std::span<const std::string> parameters,
                             const TuningGround &ground);

/// The model's time of `values`, in modelled operations; none without a model. A block's inner loop that outgrows the
/// processor's first cache is taken to be slower by a tenth, one that outgrows the second by a half: enough to put it behind
/// its like.
std::optional<double> modelled(const Request &declared, const Symbols &values, const Symbols &sample);

} // namespace opsight::port
