// The mask tensor of a case, in the shape its trait "mask_shape" names, and how it broadcasts.
#pragma once
#include "operator/attention/attention.h"

namespace opsight::ops::attention {

/// Four extents, leading ones added: "L,S" is (1,1,L,S).
std::vector<int64_t> maskShape(const Case &c);
/// Traits: "mask" names the pattern, "mask_parameter" its number, "mask_values" what an additive mask holds.
Tensor makeMask(const Case &c, const Shape &shape, uint64_t seed);
/// `mask` repeated to `shape`.
Tensor broadcastMask(const Tensor &mask, const std::vector<int64_t> &shape);

} // namespace opsight::ops::attention
