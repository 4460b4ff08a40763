// The pipeline: which passes, in which order, and why in that order.
#include "lower/warp/passes.h"

namespace opsight::lower::warp {

std::span<const Pass *const> ownPasses() { return {}; }

std::span<const Pass *const> passes() { return {}; }

} // namespace opsight::lower::warp
