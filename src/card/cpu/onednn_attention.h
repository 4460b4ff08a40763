// Attention forward out of oneDNN's primitives, arranged to be as fast as they allow: a reference must not be a
// strawman. Called with whole matrices, matmul-softmax-matmul writes B*H*L*S scores to memory and reads them back
// twice; here a core takes a tile of query rows whose scores fit its second-level cache, and runs the three primitives
// on it one after another. The scale is the product's alpha; causal tiles stop at the last key that they see.
#pragma once
#include "base/error.h"
#include <vector>

namespace opsight::card {

/// Arguments as library.h lists them, each the address of its value. Seconds without the making of primitives.
Result<double> runOneDnnAttention(const std::vector<const void *> &arguments);

} // namespace opsight::card
