// See watch_check.h.
#include "port/watch_check.h"
#include "sight/watched_case.h"

namespace opsight::port {

judge::Further WatchCheck::of(const SourceCandidate &candidate) {
  return [this, &candidate](const judge::Accuracy &judged) { return check(candidate, judged); };
}

Result<std::vector<judge::Check>> WatchCheck::check(const SourceCandidate &candidate, const judge::Accuracy &judged) {
  for (const judge::CaseResult &result : judged.cases)
    if (std::ranges::find(result.reasons, "hang") != result.reasons.end())
      return sight::checksNotMade("not watched: the kernel did not end in case '" + result.c.name + "'");
  std::optional<ops::Case> c = sight::caseToWatch(op, judged);
  if (!c)
    return sight::checksNotMade("no case was tried");
  if (!session) {
    auto profile = card::findProfile("cpu");
    if (!profile)
      return std::unexpected(profile.error());
    auto opened = card::Session::open("cpu", limits);
    if (!opened)
      return std::unexpected(opened.error());
    session = std::move(*opened);
    target = CardTarget{std::move(*profile), session->info()};
  }
  SourceCandidate watched = candidate.underWatch(*target);
  auto seen = sight::watchCase(*session, op, watched, *c, seed);
  if (!seen && seen.error().kind == ErrorKind::Unsupported)
    return sight::checksNotMade("the cpu card, which could watch it, does not run it: " + seen.error().what);
  if (!seen)
    return std::unexpected(seen.error());
  if (seen->launched.end == card::Launched::End::Hang || seen->launched.end == card::Launched::End::Refused)
    return sight::checksNotMade("not watched: " + seen->launched.detail);
  return sight::checksOf(*seen, c->name);
}

} // namespace opsight::port
