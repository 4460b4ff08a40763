// What sight saw of one kernel on one card's profile (interface.md, "findings.json"). Results only; reports format them.
#pragma once
#include "card/watch.h"
#include <map>
#include <optional>

namespace opsight::sight {

/// All accesses of one kind to one space on one line, over the whole launch that was watched.
struct LineAccesses {
  SourcePlace where;
  card::Space space = card::Space::Global;
  card::Site::Kind op = card::Site::Kind::Load;
  std::string variable;    // empty: several, or known at run time only
  uint64_t requests = 0;   // by warps
  uint64_t threads = 0;    // that took part, in sum
  uint64_t bytes = 0;      // that threads asked for, in sum
  uint64_t wavefronts = 0, idealWavefronts = 0; // Shared
  uint64_t sectors = 0, idealSectors = 0;       // Global
};

/// What was executed on one line, over the whole launch.
struct LineWork {
  SourcePlace where;
  uint64_t instructions = 0; // by warps
  double threads = 0;        // share of a warp's 32 threads that took part, mean over instructions
  uint64_t flops = 0;        // by threads, as the other kinds
  uint64_t loads = 0, stores = 0, atomics = 0, integers = 0, specials = 0, branches = 0;
};

struct Totals {
  uint64_t flops = 0, globalBytes = 0, sharedBytes = 0; // bytes that threads asked for
  uint64_t movedBytes = 0;                              // by global sectors
  double intensity = 0;                                 // flops a moved byte
  double lanesActive = 1;                               // share of a warp's threads, mean over instructions
};

struct Occupancy {
  std::optional<uint32_t> registers; // a thread; none: no toolkit here says
  std::string registersSource;       // "ptxas", or why they are unknown
  uint64_t localBytes = 0, spillBytes = 0; // a thread, of ptxas
  uint64_t sharedBytes = 0;          // a block
  uint32_t blocksPerSm = 0, warpsPerSm = 0;
  double percent = 0;
  std::string limitedBy;             // "registers", "shared memory", "warps", "blocks"; several joined by ", "
};

/// One thing that sight saw.
struct Finding {
  std::string kind; // of interface.md: "bank_conflict", "uncoalesced", "race", …
  SourcePlace where;
  std::string what;                          // one sentence with the figures
  std::map<std::string, double> evidence{};  // "wavefronts": 1024
  std::map<std::string, std::string> said{}; // evidence that is no number: "block": "0,0,0"
  double cost = 0;       // share of the kernel's modelled time on the card that it could save; a fault: 1
  std::string why;       // why it matters here
  std::string change;    // what would change it
  std::string hint{};    // "pad=1", where there is one
  bool isFault = false;  // the kernel is wrong, not slow
  bool isBenign = false; // a race in which all write the same
  bool isCostKnown = true; // false: the profile lacks what the cost is made of
};

/// Where the kernel's modelled time on the card goes (roofline.h).
struct Model {
  std::map<std::string, double> seconds; // by resource: "fp32", "memory", "shared memory", "instructions"
  std::vector<std::string> unknown;      // resources of which the profile has no figure
  std::string boundBy;                   // the resource that takes longest; empty: none is known
  std::optional<double> ridge;           // flops a byte from which on arithmetic is the limit, not memory
};

struct Findings {
  std::string kernel, card;
  std::string caseName; // the problem that was watched
  std::optional<Occupancy> occupancy; // none: the profile lacks the figures
  std::vector<LineAccesses> accesses;
  std::vector<LineWork> work;
  Totals totals;
  Model model;
  std::vector<Finding> findings; // faults first, then by cost
  std::vector<std::string> notes;
};

} // namespace opsight::sight
