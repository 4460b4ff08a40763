// What the processor can do at most, measured now: fused multiply-adds in registers and reads of memory.
#pragma once
#include "card/session.h"
#include "card/worker/pool.h"

namespace opsight::card {

/// With registers of `vectorFloats` floats at most; 0: the widest.
Session::Peak measurePeakOn(Pool &pool, uint32_t vectorFloats);

} // namespace opsight::card
