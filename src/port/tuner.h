// The tuner: measures what the hints leave free, one candidate at a time, the best by the kernel's model first, until all
// are measured or its time is over. It decides nothing.
#pragma once
#include "port/entry.h"
#include "port/plan.h"
#include "port/search_order.h"
#include "port/tuning_record.h"
#include <deque>

namespace opsight::port {

class Tuner {
public:
  /// What the tuner lets the port do.
  struct Hands {
    std::function<std::unique_ptr<SourceCandidate>(SourceKernel)> make;
    std::function<Status(Entry &, double from, double to)> judge; // fills the entry's state and verdict
  };
  Tuner(Plan &plan, TuningRecord &record, Hands hands, std::chrono::duration<double> budget)
      : plan(plan), record(record), hands(std::move(hands)),
        end(std::chrono::steady_clock::now() +
            std::chrono::duration_cast<std::chrono::steady_clock::duration>(budget)) {}

  /// Adds an entry for each of `proposal.others`. An Error is what prevents any verdict.
  Status search(const Proposal &proposal, std::deque<Entry> &entries);
  /// What each hint that fixes a parameter costs beside `winner`, one sentence a hint: "tile=64x64 kept; …". What had to be
  /// measured for that is added to `entries`.
  Result<std::vector<std::string>> costsOfHints(const Proposal &proposal, std::span<const Hint> hints,
                                                const Entry &winner, const TuningGround &ground,
                                                std::deque<Entry> &entries);
  /// How many candidates were left unmeasured because the time was over.
  size_t unmeasured() const { return left; }

private:
  Result<Entry *> measure(const Proposal &proposal, const Symbols &values, std::deque<Entry> &entries, double from,
                          double to);
  bool isOver() const { return std::chrono::steady_clock::now() >= end; }

  Plan &plan;
  TuningRecord &record;
  Hands hands;
  std::chrono::steady_clock::time_point end;
  std::optional<std::vector<TrialLine>> earlier; // of this search, by runs that were ended
  size_t left = 0;
};

} // namespace opsight::port
