// A case of a kernel, ready to be watched: built, its buffers filled.
#pragma once
#include "judge/trial.h"
#include "port/see.h"
#include "sight/memory_observer.h"

namespace opsight::port {

struct StagedCase {
  WatchChoice chosen;
  judge::Build build;
  std::unique_ptr<judge::Programs> programs;
  std::optional<judge::Trial> trial;
  sight::MemoryObserver memory; // of all its launches: one may read what another wrote

  /// The first of `choices` that the kernel's parameters can hold; a user error where it is none.
  static Result<StagedCase> of(card::Session &session, const ops::Operator &op, judge::Candidate &candidate,
                               std::span<const WatchChoice> choices, uint64_t seed);
};

} // namespace opsight::port
