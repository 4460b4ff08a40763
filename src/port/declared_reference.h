// Who knows the right outputs of a kernel without an operator: a plain function, or the original on the embedded card. Both
// run in a worker of their own, under the same limits and guards as what is judged.
#pragma once
#include "port/outcome.h"
#include "port/source_candidate.h"

namespace opsight::port {

/// Reads and binds the reference of `request`, hands it to `request.declared`, and adds what it is to `account`. `source` is
/// the user's kernel; `sample` a case that it takes. A user error where an output is received by no launch, or not by the
/// reference.
Status nameReference(Request &request, SourceCandidate &source, const ops::Case &sample, KernelAccount &account);

} // namespace opsight::port
