// A port from request to verdict: the tasks of the plan in their order, and the candidates on their way through them.
#pragma once
#include "port/outcome.h"
#include "port/plan.h"
#include "port/settle.h"

namespace opsight::port {

enum class Verb {
  Port,   // proposes candidates, judges them, keeps the best
  Verify, // judges the kernel as it stands
  Bench,  // as Port, but what an earlier search found is measured again beside all others
};

/// Carries a request out; results will lie in `folder` (nothing is written there but the plan's journal). An Error is what
/// prevents any verdict; whatever a kernel does wrong is in the outcome.
Result<Outcome> carryOut(Verb verb, Request request, const Overrides &overrides, const std::filesystem::path &folder,
                         Plan &plan);

} // namespace opsight::port
