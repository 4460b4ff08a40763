// What the processor can do at most, measured now: fused multiply-adds in registers and reads of memory.
#pragma once
#include "card/session.h"
#include "card/worker/pool.h"

namespace opsight::card {

Session::Peak measurePeakOn(Pool &pool);

} // namespace opsight::card
