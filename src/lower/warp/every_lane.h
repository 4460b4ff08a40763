// Whether a condition holds in every lane, asked of scalars: where lanes differ by constants, the lowest or the highest
// decides for all. A loop over `i = thread; i < n; i += threads` asks it every round.
#pragma once
#include "lower/warp/emitter.h"

namespace opsight::lower::warp {

/// An i1 at the builder's place that is true only if the thread's `condition` holds in all lanes; it may be false although
/// it does, where a counter wraps. Null where it takes the vector to tell.
llvm::Value *everyLaneHolds(Emitter &emitter, llvm::Value *condition);

} // namespace opsight::lower::warp
