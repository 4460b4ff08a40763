// All observers of one launch, and the one way from what they saw to findings.
#pragma once
#include "sight/assess.h"
#include "sight/memory_observer.h"
#include "sight/observers.h"
#include "sight/race_observer.h"

namespace opsight::sight {

class Eyes {
public:
  /// `memory` outlives this, and remembers between launches what has been written.
  Eyes(const card::Profile &profile, MemoryObserver &memory);
  /// To be handed to card::Session::watch.
  std::vector<card::Observer *> all();
  /// Puts what was seen of memory and work into `seen`, and the faults; `ended` is how the launch did.
  void tell(Seen &seen, const card::Launched &ended) const;

private:
  Banks banks;
  Coalescing coalescing;
  Counts counts;
  RaceObserver race;
  MemoryObserver &memory;
};

/// A launch that did not end well, as a finding; none for one that did.
std::optional<Finding> endingOf(const card::Launched &ended, const SourcePlace &kernel);

} // namespace opsight::sight
