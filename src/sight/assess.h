// From what observers counted to findings: what costs time on a card, how much by the card's roofline, why, and what
// would change it. Nothing here is measured on the card, and nothing is guessed: what the profile lacks is said.
//
// The pieces: assess_memory (banks, sectors, local memory), assess_launch (limits, occupancy, spills), assess_work
// (idle threads of warps).
#pragma once
#include "sight/accesses.h"
#include "sight/occupancy.h"
#include "sight/ptxas.h"

namespace opsight::sight {

/// A shared array as the source declares it: "float tile[32][33]".
struct DeclaredArray {
  std::string name, element; // "tile", "float"
  std::vector<uint64_t> extents;
  uint64_t bytes = 0;

  /// None where `text` is no array, or its extents are no numbers.
  static std::optional<DeclaredArray> parse(const std::string &text, uint64_t bytes);
};

/// Everything known of a kernel and one launch of it.
struct Seen {
  std::string kernel, caseName;
  SourcePlace where; // of the kernel
  card::LaunchConfig launch;
  uint64_t staticSharedBytes = 0;
  std::vector<card::WatchedObject> objects;
  std::vector<SiteAccesses> shared, global;
  std::vector<LineAccesses> local;
  std::vector<LineWork> work;
  std::vector<DeclaredArray> arrays;
  std::optional<Registers> registers; // none: `registersWhy` is the reason
  std::string registersWhy;
  std::vector<Finding> faults; // of other observers, kept as they are
};

Findings assess(const Seen &seen, const card::Profile &profile);

/// Findings of less are in the table of lines only.
inline constexpr double leastCost = 0.01;

} // namespace opsight::sight
