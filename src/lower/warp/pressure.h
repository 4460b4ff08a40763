// How many values that differ between threads are alive at once: what decides how long a vector may be before its
// pieces no longer fit the registers.
#pragma once
#include "lower/warp/patterns.h"

namespace opsight::lower::warp {

/// The most bytes that one thread keeps in vectors at any point of `kernel`. Scalars, patterns and masks are not counted:
/// they live elsewhere.
unsigned mostLiveBytes(llvm::Function &kernel, const Shapes &shapes);

} // namespace opsight::lower::warp
