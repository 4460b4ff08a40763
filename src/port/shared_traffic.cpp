// See shared_traffic.h.
#include "port/watch_check.h"
#include "sight/observers.h"

namespace opsight::port {

constexpr double momentWork = 5e7; // operations; every access of them is looked at

static std::optional<ops::Case> caseToWatch(const ops::Operator &op, const judge::Accuracy &judged) {
  const judge::CaseResult *chosen = nullptr;
  for (const judge::CaseResult &result : judged.cases)
    if (result.pass && op.work(result.c).flops <= momentWork &&
        (!chosen || op.work(result.c).flops > op.work(chosen->c).flops))
      chosen = &result;
  return chosen ? std::optional(chosen->c) : std::nullopt;
}

Result<SharedTraffic> WatchCheck::traffic(const SourceCandidate &candidate, const judge::Accuracy &judged) {
  std::optional<ops::Case> c = caseToWatch(op, judged);
  if (!c)
    return noVerdict("no case that was judged right is small enough to be watched");
  if (Status opened = open(); !opened)
    return std::unexpected(opened.error());
  SourceCandidate watched = candidate.underWatch(*target);
  auto staged = stage(watched, *c);
  if (!staged)
    return std::unexpected(staged.error());
  sight::Banks banks;
  sight::Coalescing coalescing;
  card::Observer *observers[] = {&banks, &coalescing};
  auto launched = staged->trial->launch(observers);
  if (!launched)
    return std::unexpected(launched.error());
  if (launched->end != card::Launched::End::Done)
    return noVerdict("the watched run did not come to its end: " + launched->detail);
  return SharedTraffic{c->name, banks.sites(), coalescing.sites()};
}

} // namespace opsight::port
