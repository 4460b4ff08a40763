#include "port/shared_traffic.h"
#include "port/staged_case.h"
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

Result<SharedTraffic> watchTraffic(const ops::Operator &op, const SourceCandidate &candidate,
                                   const judge::Accuracy &judged, const card::Limits &limits, uint64_t seed) {
  std::optional<ops::Case> c = caseToWatch(op, judged);
  if (!c)
    return noVerdict("no case that was judged right is small enough to be watched");
  auto session = card::Session::open("cpu", limits);
  if (!session)
    return std::unexpected(session.error());
  auto profile = card::findProfile("cpu");
  if (!profile)
    return std::unexpected(profile.error());
  SourceCandidate watched = candidate.underWatch({std::move(*profile), (*session)->info()});
  const WatchChoice choice{*c, "judged right"};
  auto stage = StagedCase::of(**session, op, watched, {&choice, 1}, seed);
  if (!stage)
    return std::unexpected(stage.error());
  sight::Banks banks;
  sight::Coalescing coalescing;
  card::Observer *observers[] = {&banks, &coalescing};
  auto launched = stage->trial->launch(observers);
  if (!launched)
    return std::unexpected(launched.error());
  if (launched->end != card::Launched::End::Done)
    return noVerdict("the watched run did not come to its end: " + launched->detail);
  return SharedTraffic{c->name, banks.sites(), coalescing.sites()};
}

} // namespace opsight::port
