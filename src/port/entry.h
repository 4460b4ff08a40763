// A candidate on its way: what it is, and how far it came.
#pragma once
#include "port/outcome.h"
#include "port/source_candidate.h"
#include <memory>

namespace opsight::port {

struct Entry {
  std::unique_ptr<SourceCandidate> candidate;
  CandidateResult result;
  Symbols values{};         // of its kernel's parameters
  bool besideHints = false; // measured to tell what a hint costs: never the winner

  Entry(std::unique_ptr<SourceCandidate> made, Symbols values) : candidate(std::move(made)), values(std::move(values)) {
    const SourceKernel &kernel = candidate->source();
    result = {kernel.name, kernel.proposer, kernel.parameters, "not tried", "", {}, {}, {}};
  }
  bool isSettled() const { return result.verdict && result.state == "judged"; } // in every case, not some
  bool isOpen() const { return result.state == "not tried" && result.why.empty(); }
  bool isRight() const {
    return result.verdict ? result.verdict->accuracy.pass : result.recorded && result.recorded->right;
  }
  /// Of the reference's time to its own; 0 where it was not timed.
  double ratio() const {
    if (result.verdict)
      return result.verdict->speed ? result.verdict->speed->ratio : 0;
    return result.recorded ? result.recorded->ratio.value_or(0) : 0;
  }
};

} // namespace opsight::port
