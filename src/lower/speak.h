// Device printf and assert, for every target: they write the buffer of card/message.h by plain stores and one atomic.
#pragma once
#include "lower/pass.h"

namespace opsight::lower {

extern const Pass speak;

} // namespace opsight::lower
