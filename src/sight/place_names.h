// How findings name threads, elements and accesses.
#pragma once
#include "card/watch.h"

namespace opsight::sight {

/// "thread (3,0,0) of block (0,1,0)".
std::string threadName(const card::WatchedLaunch &launch, uint64_t block, uint32_t warp, uint32_t lane);
/// "reads", "writes", "updates".
const char *verbOf(card::Site::Kind kind);
/// "q[12]" for byte `offset` of `object`, whose elements are `elementBytes` long unless the object says; "q + 3 bytes"
/// between elements.
std::string elementName(const card::WatchedObject &object, int64_t offset, uint32_t elementBytes);
/// "flash.cu:12".
std::string lineName(const SourcePlace &where);

} // namespace opsight::sight
