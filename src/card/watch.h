// What a launch under watch publishes, and who may listen. Code lowered to be watched (lower::Target::watched) writes
// every passage of a warp through a place that touches memory or waits into a ring that the tool reads while the kernel
// runs (watch_ring.h); observers (src/sight) subscribe to what they need.
#pragma once
#include "base/error.h"
#include "card/artifact.h"
#include "card/session.h"
#include "card/watch_ring.h"
#include <array>
#include <optional>
#include <span>

namespace opsight::card {

enum class Space : uint8_t { Global, Shared, Local };

/// Memory with a name: a buffer, a variable of the device, a shared or a local array.
struct WatchedObject {
  std::string name; // as the source calls it
  Space space = Space::Global;
  uint64_t bytes = 0;        // of an array; 0: the launch says (a buffer, dynamic shared memory)
  uint32_t elementBytes = 1; // of what the source indexes
  uint64_t offset = 0;    // Shared: first byte in the block's shared memory: static arrays first, then the dynamic one
  bool isDynamic = false; // Shared: `extern __shared__`
};

/// A place of the source at which every passage of a warp is published.
struct Site {
  enum class Kind : uint8_t { Load, Store, Atomic, Barrier, WarpSync, Fence };
  Kind kind = Kind::Load;
  Space space = Space::Global; // of an access; where it depends on the run, Access says
  uint32_t bytes = 0;          // that one thread moves
  uint32_t alignment = 1;      // that the address must have
  int32_t object = -1;         // index into Watch::objects that the address is derived from; -1: known at run time only
  bool isVolatile = false;
  SourcePlace where{};
};

/// What one thread executes on a line, once through a piece of straight code.
struct LineCounts {
  SourcePlace where{};
  uint32_t instructions = 0; // of the IR: all below, and what is none of them
  uint32_t flops = 0;        // multiply-add 2, a function of mathematics 1
  uint32_t loads = 0, stores = 0, atomics = 0, integers = 0, specials = 0, branches = 0;
};

struct Watch {
  std::vector<Site> sites;
  std::vector<WatchedObject> objects;
  std::vector<std::vector<LineCounts>> blocks; // one entry a basic block
};

/// A buffer as the launch sees it.
struct Region {
  std::string name; // of the parameter or variable
  uint64_t address = 0, bytes = 0;
  bool isInitialised = true;
};

struct WatchedLaunch {
  const Watch &watch;
  LaunchConfig config;
  std::vector<Region> regions;

  /// Of a block, static and dynamic.
  uint64_t sharedBytes() const;
  /// Of an array; of a buffer its region says.
  uint64_t bytesOf(const WatchedObject &object) const {
    return object.isDynamic ? config.dynamicSharedBytes : object.bytes;
  }
  /// Index of the region that a Global object is; -1 for arrays, and for what the launch was not handed.
  int32_t regionOf(const WatchedObject &object) const;
  uint32_t warps() const { return uint32_t((config.block.count() + 31) / 32); } // of a block
};

/// A warp of 32 threads at a site; bit i of `mask` is set where thread 32 * warp + i of the block takes part.
struct Passage {
  const Site &site;
  uint32_t number = 0; // of the site
  uint64_t block = 0;  // x fastest
  uint32_t warp = 0, mask = 0;
};

struct Access : Passage {
  Space space = Space::Global;
  int32_t object = -1; // the site's, or where the address lies in a shared array at run time
  /// Of the threads in `mask`. Global: as regions have them. Shared: offset in the block's shared memory. Local: offset
  /// in the thread's array.
  std::array<uint64_t, 32> addresses{};
  /// Store, where hasValues: what is written, folded to 32 bits where it is wider.
  std::array<uint32_t, 32> values{};
  bool hasValues = false;
  /// Of the threads in `mask`, enough to look at for what depends on addresses alone: every address is one of theirs.
  uint32_t distinct = 0;
  /// Of those, enough for bounds and alignment: the lowest and the highest address are among theirs, and where any of the
  /// warp's is misaligned for the site, one of theirs is.
  uint32_t edges = 0;

  /// Sets the two, for addresses that are known to lie on a line with `step` between neighbours, or (none) not known to.
  void summarise(std::optional<uint64_t> step);
};

/// Called from one thread, in the order in which the kernel ran: one block after another, and between two barriers of the
/// whole grid all of them again.
class Observer {
public:
  virtual ~Observer() = default;
  virtual void begins(const WatchedLaunch &) {}
  virtual void access(const Access &) {}
  virtual void barrier(const Passage &) {}                        // of the whole block
  /// Of the whole grid: all warps of all blocks come by, block after block, before one of them goes on.
  virtual void gridBarrier(const Passage &) {}
  virtual void warpSync(const Passage &, uint32_t /*members*/) {} // __syncwarp
  virtual void fence(const Passage &) {}                          // __threadfence and its kin
  /// Beside Watch::blocks; also of a launch that ended badly, as far as it came.
  virtual void ends(std::span<const BlockVisits>) {}
};

} // namespace opsight::card
