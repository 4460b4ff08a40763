#include "port/staged_case.h"

namespace opsight::port {

/// Why `candidate` cannot be asked `c`; nothing where it can, and `build` is made.
static Result<std::optional<std::string>> tryBuild(const ops::Operator &op, judge::Candidate &candidate,
                                                   const ops::Case &c, judge::Build &build) {
  Result<std::variant<judge::Build, judge::OutsideLimits>> built = candidate.prepare(c);
  if (!built)
    return std::unexpected(built.error());
  if (auto *outside = std::get_if<judge::OutsideLimits>(&*built))
    return outside->why;
  build = std::move(std::get<judge::Build>(*built));
  return judge::Trial::outside(op, c, build);
}

Result<StagedCase> StagedCase::of(card::Session &session, const ops::Operator &op, judge::Candidate &candidate,
                                  std::span<const WatchChoice> choices, uint64_t seed) {
  std::string why = "it has none";
  for (const WatchChoice &choice : choices) {
    StagedCase stage;
    Result<std::optional<std::string>> outside = tryBuild(op, candidate, choice.c, stage.build);
    if (!outside)
      return std::unexpected(outside.error());
    if (*outside) {
      why = **outside;
      continue;
    }
    Result<ops::Problem> problem = op.make(choice.c, seed);
    if (!problem)
      return std::unexpected(problem.error());
    stage.chosen = choice;
    stage.programs = std::make_unique<judge::Programs>(session);
    Result<judge::Trial> trial =
        judge::Trial::create(session, *stage.programs, op, choice.c, stage.build, *problem);
    if (!trial)
      return std::unexpected(trial.error());
    trial->fill(*problem, judge::poisonWord(seed, 0));
    stage.trial.emplace(std::move(*trial));
    return stage;
  }
  return userError("no case can be asked of this kernel: " + why, "name one by --case");
}

} // namespace opsight::port
