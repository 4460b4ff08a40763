// How many values that differ between threads are alive at once: what decides how long a vector may be before its
// pieces no longer fit the registers.
#pragma once
#include "lower/warp/patterns.h"

namespace opsight::lower::warp {

/// The most bytes that one thread keeps in vectors at any point of `kernel`. Scalars, patterns and masks are not counted:
/// they live elsewhere. Nor are addresses and what they alone are computed from, unless `withAddresses`: of a vector that
/// holds whole rows of threads a scalar for each row stands for them.
unsigned mostLiveBytes(llvm::Function &kernel, const Shapes &shapes, bool withAddresses = true);

} // namespace opsight::lower::warp
